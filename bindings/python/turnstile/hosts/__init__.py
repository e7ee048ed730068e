"""Adapters for runtimes beside torch: one module for each.

A module imports its runtime, so none is imported here. `follow` is what they share.

SPDX-License-Identifier: Apache-2.0
"""
