"""Messages on their way to webhooks and mail servers, with the secrets that these need."""

from __future__ import annotations

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.config import Settings
from penstock.connect.mail import mail_settings, send_mail
from penstock.connect.secret import filled_in
from penstock.connect.webhook import post, webhook_settings
from penstock.watch.message import Message, json_body, mail_of
from penstock.watch.notifier import Send
from penstock.watch.target import Target, target_of


def sender_of(settings: Settings, clock: Clock = SYSTEM_CLOCK) -> Send:
    """Give what sends messages as the settings say; secrets are read when they are needed."""

    def send(target: Target, message: Message) -> None:
        place = filled_in(target.place, f"receiver {target}")
        # What a variable holds is looked at as closely as what settings say.
        target_of(f"{target.kind}:{place}")
        if target.kind == "mail":
            how = mail_settings(settings.mail)
            send_mail(mail_of(message, how.sender, place), how)
        else:
            how_to_call = webhook_settings(settings.webhook)
            body = json_body(message)
            post(place, body, id=message.id, settings=how_to_call, clock=clock)

    return send
