from django.apps import AppConfig


class CoinConfig(AppConfig):
    name = "tests.coin"

    def ready(self) -> None:
        from arena import kinds
        from tests.coin.kind import Coin

        kinds.register(Coin())
