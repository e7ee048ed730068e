package turnstile;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * One generation under a schema, what is refused, and what a closed object does.
 *
 * <p>A program without a framework: it prints a line for each test and ends with 1 if one failed.
 *
 * <p>SPDX-License-Identifier: Apache-2.0
 */
public final class TurnstileTest {
  private TurnstileTest() {}

  private static void check(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError(what);
    }
  }

  private static boolean allowed(int[] mask, int token) {
    return (mask[token / 32] >>> (token % 32) & 1) == 1;
  }

  /** One of the tokens that a mask allows. */
  private static int draw(int[] mask, Random random) {
    List<Integer> tokens = new ArrayList<>();
    for (int token = 0; token < 32 * mask.length; token++) {
      if (allowed(mask, token)) {
        tokens.add(token);
      }
    }
    return tokens.get(random.nextInt(tokens.size()));
  }

  /** A text of the grammar, drawn by a seed. */
  private static String generated(Vocab vocab, Grammar grammar, long seed) {
    int[] mask = new int[vocab.maskWords()];
    StringBuilder text = new StringBuilder();
    Random random = new Random(seed);
    try (Matcher matcher = grammar.matcher()) {
      while (!matcher.isTerminated()) {
        matcher.mask(mask);
        int token = draw(mask, random);
        check(matcher.accept(token), "an allowed token is accepted");
        if (!vocab.isEnd(token)) {
          text.append(new String(vocab.bytes(token), StandardCharsets.UTF_8));
        }
      }
      check(matcher.isComplete(), "a text that ended is complete");
    }
    return text.toString();
  }

  static void generation() {
    String schema =
        "{\"type\": \"object\", \"required\": [\"n\"], \"additionalProperties\": false,"
            + "\"properties\": {\"n\": {\"type\": \"integer\", \"minimum\": 10, \"maximum\": 42}}}";
    try (Vocab vocab = Vocab.embedded();
        Grammar grammar = vocab.jsonSchema(schema)) {
      for (long seed = 0; seed < 20; seed++) {
        String text = generated(vocab, grammar, seed).replaceAll("[ \\n\\t\\r]", "");
        check(text.matches("\\{\"n\":([1-3]\\d|4[0-2])\\}"), text);
      }
    }
  }

  static void grammars() {
    try (Vocab vocab = Vocab.embedded();
        Grammar pattern = vocab.regex("é(cat|dog)");
        Grammar rules = vocab.gbnf("root ::= \"é\" (\"cat\" | \"dog\")")) {
      for (long seed = 0; seed < 20; seed++) {
        check(vocab.size() == 4096, "the vocabulary has 4096 tokens");
        String text = generated(vocab, pattern, seed);
        check(text.endsWith("cat") || text.endsWith("dog"), text);
        check(generated(vocab, rules, seed).equals(text), "both notations mean the same");
      }
    }
  }

  static void rejected() {
    Vocab vocab = Vocab.embedded();
    Grammar grammar = vocab.regex("a+");
    int[] mask = new int[vocab.maskWords()];
    int size = vocab.size();
    vocab.close(); // the grammar keeps it
    try (Matcher matcher = grammar.matcher()) {
      grammar.close();
      matcher.mask(mask);
      int count = 0;
      for (int token = 0; token < size; token++) {
        boolean accepted = matcher.accept(token);
        check(accepted == allowed(mask, token), "token " + token);
        if (accepted) {
          count++;
          matcher.rollback(1);
        }
      }
      check(count > 0 && count < size, count + " tokens are accepted");
      refused("TSL_ERR_STATE", "", () -> matcher.rollback(1));
      refused("TSL_ERR_ARGUMENT", "", () -> matcher.mask(new int[1]));
    }
    try {
      vocab.size();
      check(false, "a closed vocabulary is used");
    } catch (IllegalStateException e) {
      check(e.getMessage().contains("Vocab"), e.getMessage());
    }
  }

  private static TurnstileException refused(String status, String pointer, Runnable call) {
    try {
      call.run();
    } catch (TurnstileException e) {
      check(e.status().equals(status), e.getMessage());
      check(e.pointer().equals(pointer), "the pointer " + e.pointer());
      return e;
    }
    throw new AssertionError("nothing is refused; wanted: " + status);
  }

  static void errors() {
    try (Vocab vocab = Vocab.embedded()) {
      refused("TSL_ERR_SCHEMA", "/minimum", () -> vocab.jsonSchema("{\"minimum\": \"one\"}"));
      TurnstileException e = refused("TSL_ERR_SYNTAX", "", () -> vocab.jsonSchema("{\n  \"a\"}"));
      check(e.line() == 2 && e.column() > 1, "the place " + e.line() + ":" + e.column());
    }
    refused("TSL_ERR_IO", "", () -> Vocab.load("/nowhere/at/all"));
  }

  public static void main(String[] arguments) {
    String[] names = {"generation", "grammars", "rejected", "errors"};
    Runnable[] tests = {
      TurnstileTest::generation,
      TurnstileTest::grammars,
      TurnstileTest::rejected,
      TurnstileTest::errors
    };
    int failed = 0;
    for (int i = 0; i < tests.length; i++) {
      try {
        tests[i].run();
        System.out.println("ok " + names[i]);
      } catch (AssertionError | RuntimeException e) {
        failed++;
        System.out.println("FAIL " + names[i] + ": " + e);
      }
    }
    System.exit(failed > 0 ? 1 : 0);
  }
}
