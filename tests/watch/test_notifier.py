from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.config import load_settings
from penstock.errors import ConfigError
from penstock.watch.alert import Alert
from penstock.watch.message import Message, json_body, mail_of
from penstock.watch.rule import Rule
from penstock.watch.rule_document import alert_rule
from penstock.watch.sending import sender_of
from penstock.watch.silence import Silence, silences
from penstock.watch.target import target_of
from tests.watch.http_server import HttpServer
from tests.watch.scenes import MINUTE, SECOND, START, Scene
from tests.watch.smtp_server import SmtpServer

P1, P2, P3 = ('{"_key":"P1"}', '{"_key":"P2"}', '{"_key":"P3"}')


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    found = Scene(tmp_path)
    found.topic("errors")
    return found


def failing(**said: object) -> Rule:
    words: dict[str, object] = {
        "table": "errors", "when": "count > 10", "to": "mail:ops@b.c", "group_every": "10s",
    }  # fmt: skip
    return alert_rule("failing", **{**words, **said})  # type: ignore[arg-type]


def test_alerts_that_come_together_are_one_message(scene: Scene) -> None:
    with scene.watch(failing()) as watch:
        scene.put("errors", {"pageid": "P1", "count": 12})
        scene.look(watch)
        scene.put("errors", {"pageid": "P2", "count": 12})
        scene.look(watch, 9 * SECOND)
        assert scene.box.sent == []
        scene.look(watch, SECOND)
    assert scene.box.told() == [[("firing", P1), ("firing", P2)]]


def test_each_group_is_told_by_itself(scene: Scene) -> None:
    with scene.watch(failing(group_by=["pageid"])) as watch:
        scene.put("errors", {"pageid": "P1", "count": 12}, {"pageid": "P2", "count": 12})
        scene.look(watch)
        scene.look(watch, 10 * SECOND)
    assert [message.group for _, message in scene.box.sent] == [
        '{"pageid": "P1"}',
        '{"pageid": "P2"}',
    ]


def test_one_that_was_over_before_it_was_told_is_told_as_such(scene: Scene) -> None:
    with scene.watch(failing()) as watch:
        scene.put("errors", {"pageid": "P1", "count": 12})
        scene.look(watch)
        scene.put("errors", {"pageid": "P1", "count": 0})
        scene.look(watch, SECOND)
        scene.look(watch, 10 * SECOND)
    assert scene.box.told() == [[("resolved", P1)]]


def test_what_was_not_taken_is_sent_again_after_pauses_that_double(scene: Scene) -> None:
    scene.box.refuses = "WEBHOOK_UNREACHABLE"
    with scene.watch(failing(group_every="0s")) as watch:
        scene.put("errors", {"pageid": "P1", "count": 12})
        tried = []
        for second in range(16):
            before = scene.box.tries
            scene.look(watch, SECOND if second else 0)
            tried += [second] * (scene.box.tries - before)
        assert tried == [0, 1, 3, 7, 15]
        scene.put("errors", {"pageid": "P2", "count": 12})
        scene.box.refuses = ""
        scene.look(watch, MINUTE)
    assert scene.box.told() == [[("firing", P1), ("firing", P2)]]


def test_one_that_was_refused_is_not_sent_again_soon(scene: Scene) -> None:
    scene.box.refuses = "MAIL_REFUSED"
    with scene.watch(failing(group_every="0s")) as watch:
        scene.put("errors", {"pageid": "P1", "count": 12})
        scene.look(watch)
        scene.look(watch, 5 * MINUTE - 1)
        assert scene.box.tries == 1
        told = json.loads((scene.home / "watch" / "status.json").read_text())
        assert told["receivers"]["mail:ops@b.c"]["waiting"] == 1
        assert "MAIL_REFUSED" in told["receivers"]["mail:ops@b.c"]["problem"]
        scene.look(watch, 1)
        assert scene.box.tries == 2


def test_what_was_not_taken_is_not_forgotten_by_a_restart(scene: Scene) -> None:
    scene.box.refuses = "MAIL_UNREACHABLE"
    with scene.watch(failing(group_every="0s")) as watch:
        scene.put("errors", {"pageid": "P1", "count": 12})
        scene.look(watch)
    scene.box.refuses = ""
    with scene.watch(failing(group_every="0s")) as watch:
        scene.look(watch)
    assert scene.box.told() == [[("firing", P1)]]


def test_a_message_that_was_taken_just_before_a_crash_comes_again_under_its_id(
    scene: Scene,
) -> None:
    scene.put("errors", {"pageid": "P1", "count": 12})
    with scene.watch(failing(group_every="0s")) as watch:
        watch.look()
        with pytest.MonkeyPatch.context() as broken:
            broken.setattr(watch._log, "commit", _killed)
            with pytest.raises(KeyboardInterrupt):
                watch.deliver()
    with scene.watch(failing(group_every="0s")) as watch:
        scene.look(watch)
        scene.look(watch, MINUTE)
    first, again = (message for _, message in scene.box.sent)
    assert first.id == again.id
    assert [item.id for item in first.alerts] == [item.id for item in again.alerts]


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_one_receiver_that_is_shut_keeps_nobody_else_waiting(scene: Scene) -> None:
    rule = failing(to=["mail:a@b.c", "webhook:http://example.com"], group_every="0s")
    refused = target_of("mail:a@b.c")

    def send(target: object, message: Message) -> None:
        scene.box.refuses = "MAIL_UNREACHABLE" if target == refused else ""
        scene.box(target, message)  # type: ignore[arg-type]

    with scene.watch(rule) as watch:
        watch._send = send
        scene.put("errors", {"pageid": "P1", "count": 12})
        scene.look(watch)
    assert [str(target) for target, _ in scene.box.sent] == ["webhook:http://example.com"]


def test_a_receiver_that_is_new_is_not_told_what_was_before_it(scene: Scene) -> None:
    scene.put("errors", {"pageid": "P1", "count": 12})
    with scene.watch(failing(to=[])) as watch:
        scene.look(watch)
    with scene.watch(failing(group_every="0s")) as watch:
        scene.look(watch)
        scene.put("errors", {"pageid": "P1", "count": 0})
        scene.look(watch)
    assert scene.box.told() == [[("resolved", P1)]]


def test_nobody_is_told_of_what_is_silenced_and_it_is_written_down(scene: Scene) -> None:
    quiet = silences(scene.home)
    quiet.add(Silence("failing", START + MINUTE, P1), START)
    quiet.add(Silence("other", START + MINUTE), START)
    with scene.watch(failing(group_every="0s", repeat_every="1 minute")) as watch:
        scene.put("errors", {"pageid": "P1", "count": 12}, {"pageid": "P2", "count": 12})
        assert scene.look(watch) == [("firing", P1), ("firing", P2)]
        assert scene.box.told() == [[("firing", P2)]]
        scene.look(watch, MINUTE)
        assert scene.box.told()[1] == [("firing", P1), ("firing", P2)]
    assert quiet.all(START + MINUTE) == ()


def test_a_silence_is_replaced_and_ended(tmp_path: Path) -> None:
    quiet = silences(tmp_path)
    assert quiet.all(0) == ()
    quiet.add(Silence("a", 100), 0)
    quiet.add(Silence("a", 200, reason="again"), 0)
    assert [item.until for item in quiet.all(0)] == [200]
    quiet.end("a", "", 0)
    assert quiet.all(0) == ()


ALERT = Alert("r", P1, "firing", START, START, 2, value='{"count": 12}', message="r: ünusual")


def test_a_message_lists_its_alerts_with_their_ids() -> None:
    over = Alert("r", P2, "resolved", START, START + 1, 1)
    message = Message("r", '{"page": "x"}', (ALERT, over), START)
    document = json.loads(json_body(message))
    assert document["title"] == '[1 firing, 1 resolved] r {"page": "x"}'
    assert (document["state"], document["group"]) == ("firing", {"page": "x"})
    assert document["alerts"][0]["key"] == {"_key": "P1"}
    assert [item["id"] for item in document["alerts"]] == [ALERT.id, over.id]
    mail = mail_of(message, "p@b.c", "ops@b.c")
    assert mail["Message-ID"] == f"<{message.id}@penstock.invalid>"
    assert "FIRING r: ünusual" in mail.get_content()
    assert "told 2 times" in mail.get_content()


def test_a_message_of_very_many_alerts_says_how_many_it_leaves_out() -> None:
    many = tuple(Alert("r", f'{{"n":{n}}}', "firing", 0, 0, 1, message="m") for n in range(250))
    message = Message("r", "{}", many, 0)
    document = json.loads(json_body(message))
    assert (len(document["alerts"]), document["left_out"]) == (100, 150)
    assert "and 150 more" in mail_of(message, "a@b", "c@d").get_content()


def test_messages_reach_a_real_webhook_and_a_real_mail_server_and_no_secret_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK_TOKEN", "t0ken")
    monkeypatch.setenv("SMTP_PASSWORD", "hunter2")
    with HttpServer([500]) as web, SmtpServer(users={"ann": "hunter2"}) as post:
        (tmp_path / "penstock.toml").write_text(
            f'[mail]\nhost = "127.0.0.1"\nport = {post.port}\nfrom = "p@b.c"\nuser = "ann"\n'
            'security = "none"\npassword_env = "SMTP_PASSWORD"\n'
            f'[alerts.failing]\ntable = "errors"\nwhen = "count > 10"\ngroup_every = "0s"\n'
            f'to = ["webhook:{web.url}/${{HOOK_TOKEN}}", "mail:ops@b.c"]\n'
        )
        settings = load_settings({"home": str(tmp_path)}, environment={}, directory=tmp_path)
        scene = Scene(tmp_path)
        scene.topic("errors")
        scene.put("errors", {"pageid": "P1", "count": 12})
        words = settings.alerts["failing"]
        assert isinstance(words, dict)
        rule = alert_rule("failing", **words)
        with scene.watch(rule) as watch:
            watch._send = sender_of(settings, scene.clock)
            scene.look(watch)
            scene.look(watch, timedelta(seconds=1) // timedelta(milliseconds=1))
    assert [item.path for item in web.posted] == ["/t0ken", "/t0ken"]
    assert web.posted[0].json == web.posted[1].json | {"at": web.posted[0].json["at"]}
    (mail,) = post.mails
    assert (mail.recipients, mail.user) == (("ops@b.c",), "ann")
    assert mail.message["Subject"] == "[1 firing] failing"
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert b"t0ken" not in file.read_bytes(), file
            assert b"hunter2" not in file.read_bytes(), file
    for shown in (repr(settings.alerts), repr(rule), repr(settings)):
        assert "t0ken" not in shown
        assert "hunter2" not in shown


def test_what_a_variable_holds_is_looked_at_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHO", "a@b\r\nBcc: c@d")
    send = sender_of(load_settings(environment={}))
    with pytest.raises(ConfigError, match="ALERT_TARGET"):
        send(target_of("mail:${WHO}@b.c"), Message("r", "{}", (ALERT,), 0))
