"""`manage.py add_model ID --kind text --url URL`: register a model of a server, or change its row."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_slug

from texts.adding import NotAdded, add_model, checked, choose, listed
from texts.models import TEXT, LanguageModel

WORDS = {
    "name": "name for people (default: the id)",
    "description": "what it is, in a sentence",
    "organization": "who made it",
    "license": "licence of the weights",
    "provenance": "who trained it, on what",
    "family": "the family that it belongs to, such as qwen",
    "system_prompt": "what it is told before every conversation",
    "key_variable": "environment variable that holds the server's key; its name ends in _API_KEY",
}
NUMBERS = {
    "temperature": "0 to 2 (default: the server's)",
    "top_p": "0 to 1 (default: the server's)",
    "prompt_price": "US dollars for a million tokens read",
    "answer_price": "US dollars for a million tokens written",
}


class Command(BaseCommand):
    help = (
        "List the models of an OpenAI-compatible server (vLLM, Ollama, llama.cpp, hosted APIs), let one of them answer "
        "once, measure its first token and its speed, and enter it into the registry."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", help="a new id, or that of a registered model, such as qwen-7b")
        parser.add_argument("--kind", choices=[TEXT], default=TEXT)
        parser.add_argument("--url", required=True, help="address of the API, such as http://127.0.0.1:8000/v1")
        parser.add_argument("--served-name", default="", help="its name on the server (default: the only one)")
        parser.add_argument("--max-tokens", type=int, help="of one answer (default: 1024)")
        for name, meaning in WORDS.items():
            parser.add_argument(f"--{name.replace('_', '-')}", help=meaning)
        for name, meaning in NUMBERS.items():
            parser.add_argument(f"--{name.replace('_', '-')}", type=float, help=meaning)
        parser.add_argument("--extra-body", type=json.loads, help='further fields of requests: {"repeat_penalty": 1.1}')
        parser.add_argument("--json", action="store_true", help="answer with one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        model, created = _row(options)
        try:
            names = listed(checked(model))
            model.served_name = choose(names, options["served_name"])
            tried = add_model(model)
        except NotAdded as reason:
            raise CommandError(str(reason)) from reason
        measured = {"first_token_ms": round(tried.first_token_ms), "tokens_per_s": round(tried.tokens_per_s, 1)}
        if options["json"]:
            answer = {"model_id": model.pk, "created": created, "served_name": model.served_name, "listed": names}
            self.stdout.write(json.dumps({**answer, **measured, "tokens": tried.tokens, "answer": tried.text}))
            return
        self.stdout.write(f"The server lists: {', '.join(names)}")
        self.stdout.write(f"{model.served_name} says: {tried.text.strip()}")
        speed = f"first token after {measured['first_token_ms']} ms, then {measured['tokens_per_s']} tokens/s"
        self.stdout.write(f"{model.pk}: {'entered' if created else 'updated'}, {speed}")


def _row(options: dict[str, Any]) -> tuple[LanguageModel, bool]:
    """The row as the options change it, not saved, and whether it is new."""
    model_id = options["model"]
    try:
        validate_slug(model_id)
    except ValidationError:
        raise CommandError(f"{model_id!r}: an id is letters, digits, hyphens and underscores") from None
    known = LanguageModel.objects.filter(pk=model_id).first()
    model = known or LanguageModel(id=model_id, name=model_id, family="text", kind=TEXT)
    model.base_url = options["url"]
    model.served_name = options["served_name"] or model.served_name or "?"  # chosen from the server's list
    for name in (*WORDS, *NUMBERS, "max_tokens", "extra_body"):
        if options[name] is not None:
            setattr(model, name, options[name])
    return model, known is None
