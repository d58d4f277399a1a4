"""Forms of the account pages. Rules stand in the services; a form only reads what was typed."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm

from accounts.models import ApiKey
from accounts.selectors import timezone_names
from asyncenergy.errors import AsyncEnergyError


def take_error(form: forms.Form, error: AsyncEnergyError) -> None:
    """Show a service's refusal at the field that it names, else above the form."""
    for place in error.errors or [{"attr": "", "detail": error.detail}]:
        form.add_error(place["attr"] if place["attr"] in form.fields else None, place["detail"])


def _password(label: str, autocomplete: str, help_text: str = "") -> forms.CharField:
    widget = forms.PasswordInput(attrs={"autocomplete": autocomplete})
    return forms.CharField(label=label, strip=False, max_length=1024, widget=widget, help_text=help_text)


def _new_password(label: str) -> forms.CharField:
    return _password(label, "new-password", "At least 8 characters, not only digits, and no common password.")


class LoginForm(AuthenticationForm):
    error_messages = {
        "invalid_login": "No account has this e-mail address and password.",
        "inactive": "This account is closed.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].widget = forms.EmailInput(attrs={"autocomplete": "email", "maxlength": 254})


class SignupForm(forms.Form):
    email = forms.EmailField(
        label="E-mail address", max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )
    password = _new_password("Password")
    timezone = forms.ChoiceField(
        label="Timezone",
        initial="UTC",
        choices=lambda: [(name, name) for name in timezone_names()],
        help_text="Deadlines such as “by 7am” are read in it.",
    )


class PasswordChangeForm(forms.Form):
    current_password = _password("Current password", "current-password")
    new_password = _new_password("New password")


class FiguresForm(forms.Form):
    """What becomes of the published figures of an account that is deleted."""

    figures = forms.ChoiceField(
        label="Its published figures",
        choices=[("stay", "stay, without a link to the account"), ("withdrawn", "are withdrawn")],
        widget=forms.RadioSelect,
        error_messages=dict.fromkeys(("required", "invalid_choice"), "Choose what becomes of them."),
    )

    @property
    def keeps_figures(self) -> bool:
        return bool(self.cleaned_data["figures"] == "stay")


class DeletionForm(FiguresForm):
    current_password = _password("Current password", "current-password")


class PasswordResetForm(forms.Form):
    email = forms.EmailField(
        label="E-mail address", max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )


class PasswordNewForm(forms.Form):
    new_password = _new_password("New password")


class KeyForm(forms.Form):
    name = forms.CharField(label="Name", max_length=80, help_text="Such as the machine that will hold it.")
    scope = forms.ChoiceField(label="It may", choices=ApiKey.Scope.choices, initial=ApiKey.Scope.ALL)
    expires_at = forms.DateTimeField(
        label="Expires on",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="At the start of that day, UTC. Empty: never.",
    )
