"""Ray Serve: two replicas answer requests under the schema that a request brings.

    python ray_serve.py
    curl localhost:8000 -d '{"prompt": 7, "schema": {"type": "integer", "minimum": 3}}'

The replicas share one folder: a schema is compiled once, by the replica that meets it first. A
schema that is refused gets its JSON pointer and status 400. Answer.write stands for a model.
SPDX-License-Identifier: Apache-2.0
"""

import ray_batch
import starlette.requests
import starlette.responses
from ray import serve

import turnstile


@serve.deployment(num_replicas=2, ray_actor_options={"num_cpus": 0.25})
class Answers:
    def __init__(self, folder=ray_batch.FOLDER):
        self.answer, self.folder = ray_batch.Answer(folder), folder

    async def __call__(self, request: starlette.requests.Request):
        body = await request.json()
        try:
            self.answer.grammar = turnstile.Grammar.json_schema(
                self.answer.vocab, body["schema"], cache=self.folder
            )
        except turnstile.GrammarError as error:
            return starlette.responses.JSONResponse(
                {"error": str(error), "pointer": error.pointer}, status_code=400
            )
        return dict(zip(("text", "tokens"), self.answer.write(body["prompt"])))


app = Answers.bind()

if __name__ == "__main__":
    serve.run(app, blocking=True)
