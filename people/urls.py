"""Profile, privacy and own data; and of allauth's pages those that accounts without passwords need."""

from __future__ import annotations

from allauth.account import views as account
from allauth.mfa.webauthn import views as passkeys
from django.urls import URLPattern, path
from django.views.decorators.cache import never_cache
from django.views.generic import RedirectView

from people import pages, pages_of_tokens
from people.pages import View, not_for_staff, with_accounts


def _page(route: str, view: View, name: str) -> URLPattern:
    return path(f"account/{route}", with_accounts(not_for_staff(never_cache(view))), name=name)


_to_login = RedirectView.as_view(pattern_name="account_login", query_string=True)
_to_passkeys = RedirectView.as_view(pattern_name="mfa_list_webauthn")

urlpatterns = [
    path("profile/", pages.profile, name="profile"),
    path("profile/tokens/", pages_of_tokens.show, name="tokens"),
    path("profile/tokens/<int:pk>/revoke", pages_of_tokens.revoke, name="revoke-token"),
    path("privacy/", pages.privacy, name="privacy"),
    path("your-data/", pages.your_data, name="own-data"),
    path("your-data/download", pages.download, name="own-data-download"),
    path("your-data/delete", pages.delete, name="own-data-delete"),
    _page("login/", account.login, "account_login"),
    _page("login/code/", account.confirm_login_code, "account_confirm_login_code"),
    _page("login/request/", _to_login, "account_request_login_code"),
    _page("login/passkey/", passkeys.login_webauthn, "mfa_login_webauthn"),
    _page("signup/", account.signup, "account_signup"),
    _page("signup/passkey/", account.signup_by_passkey, "account_signup_by_passkey"),
    _page("signup/passkey/make/", passkeys.signup_webauthn, "mfa_signup_webauthn"),
    _page("confirm/", account.email_verification_sent, "account_email_verification_sent"),
    _page("blocked/", account.account_inactive, "account_inactive"),
    _page("logout/", account.logout, "account_logout"),
    _page("address/", account.email, "account_email"),
    _page("passkeys/", passkeys.list_webauthn, "mfa_list_webauthn"),
    _page("passkeys/all/", _to_passkeys, "mfa_index"),
    _page("passkeys/add/", passkeys.add_webauthn, "mfa_add_webauthn"),
    _page("passkeys/<int:pk>/rename/", passkeys.edit_webauthn, "mfa_edit_webauthn"),
    _page("passkeys/<int:pk>/remove/", passkeys.remove_webauthn, "mfa_remove_webauthn"),
]
