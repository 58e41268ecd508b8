"""The form in which a researcher submits a policy."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, gettext_lazy

from arena.models import Contestant
from arena.models.contestants import BEGINS_PLAINLY
from robots.models import Submission

LARGEST_CONTRACT = 10_000
SCHEMES = ("ws://", "wss://", "http://", "https://")
WEIGHTS = ("https://", "http://")


class SubmissionForm(forms.Form):
    """Its labels end as they are written, without a colon."""

    name = forms.CharField(max_length=255, label=gettext_lazy("Name of the policy"))
    model_id = forms.SlugField(
        max_length=100,
        validators=[BEGINS_PLAINLY],
        label=gettext_lazy("Id"),
        help_text=gettext_lazy("Letters, digits, hyphens and underscores, such as my-policy-7b."),
    )
    organization = forms.CharField(required=False, max_length=255, label=gettext_lazy("Organization (optional)"))
    license = forms.CharField(
        max_length=50,
        label=gettext_lazy("Licence of the weights"),
        help_text=gettext_lazy("An SPDX identifier such as Apache-2.0, or “proprietary”."),
    )
    provenance = forms.CharField(
        max_length=2000, widget=forms.Textarea(attrs={"rows": 3}), label=gettext_lazy("Who trained it, on what?")
    )
    variant_of = forms.SlugField(
        required=False,
        max_length=100,
        label=gettext_lazy("Id of the policy of which it is a variant (optional)"),
        help_text=gettext_lazy("All variants that are tried are listed on the models' pages."),
    )
    url = forms.CharField(
        required=False,
        max_length=500,
        label=gettext_lazy("Address of its server"),
        help_text=gettext_lazy("It speaks openpi's protocol, such as wss://gpu.example.org. Or else leave it empty:"),
    )
    folder = forms.CharField(
        required=False,
        max_length=500,
        label=gettext_lazy("Where its folder can be fetched"),
        help_text=gettext_lazy("An address of safetensors weights with their policy.json."),
    )
    contract = forms.CharField(
        required=False,
        max_length=LARGEST_CONTRACT,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
        label=gettext_lazy("Contract (optional)"),
        help_text=gettext_lazy('What the server does not declare of itself, as JSON, such as {"chunk": 8}.'),
    )
    contact = forms.CharField(
        max_length=255,
        label=gettext_lazy("How moderators reach you"),
        help_text=gettext_lazy("An e-mail address or a page. It is never public."),
    )
    agreed = forms.BooleanField(
        label=gettext_lazy("I may let it play here, and its battles, votes and revisions may be published.")
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})

    def clean_model_id(self) -> str:
        model_id = str(self.cleaned_data["model_id"])
        waiting = Submission.objects.filter(model_id=model_id, state=Submission.State.WAITING)
        if Contestant.objects.filter(pk=model_id).exists() or waiting.exists():
            raise ValidationError(gettext("This id is taken. Choose another one."))
        return model_id

    def clean_url(self) -> str:
        return _address(str(self.cleaned_data["url"]), SCHEMES)

    def clean_folder(self) -> str:
        return _address(str(self.cleaned_data["folder"]), WEIGHTS)

    def clean_contract(self) -> dict[str, Any]:
        text = str(self.cleaned_data["contract"]).strip() or "{}"
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise ValidationError(gettext('Expected a JSON object, such as {"chunk": 8}.'))
        if "key_variable" in found:
            raise ValidationError(gettext("Keys do not belong here. Moderators will ask you for one."))
        return found

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors and bool(data.get("url")) == bool(data.get("folder")):
            raise ValidationError(gettext("Give either the address of a server, or that of a folder."))
        return data

    def save(self, visitor: str) -> Submission:
        columns = {name: value for name, value in self.cleaned_data.items() if name != "agreed"}
        return Submission.objects.create(visitor=visitor, **columns)


def _address(text: str, schemes: tuple[str, ...]) -> str:
    address = text.strip()
    if address and not address.startswith(schemes):
        raise ValidationError(gettext("An address begins with {}.").format(", ".join(schemes)))
    return address
