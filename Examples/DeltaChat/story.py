"""Ann writes to Bob, whose Delta Chat is the core of a group. Called by `run`, in namespaces of its own.

usage: story.py PROGRAM DELTACHAT BACKEND
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time

from core import DeltaChat

PROGRAM, SERVER, BACKEND = sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))
PLACE = tempfile.mkdtemp(prefix="deltachat-")
IMAP, SMTP = 1143, 1025
# DC_CONNECTIVITY_CONNECTED
CONNECTED = 4000


def until(what, condition):
    limit = time.monotonic() + 120
    while not (value := condition()):
        if time.monotonic() > limit:
            sys.exit(f"not in time: {what}")
        time.sleep(0.05)
    return value


def write(name, text):
    path = os.path.join(PLACE, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def answers(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def serve_mail():
    """Dovecot and Exim for ann and bob at mail.example, on the loopback interface."""
    os.chmod(PLACE, 0o755)
    for name in ["mail", "mail/ann", "mail/bob", "exim"]:
        os.mkdir(os.path.join(PLACE, name))
        # Exim has no other user's rights with a configuration of one's own.
        subprocess.run(["chown", "Debian-exim:", os.path.join(PLACE, name)], check=True)
    subprocess.Popen(["dovecot", "-F", "-c", write("dovecot.conf", f"""
        base_dir = {PLACE}/dovecot
        log_path = {PLACE}/dovecot.log
        protocols = imap
        listen = 127.0.0.1
        ssl = no
        disable_plaintext_auth = no
        first_valid_uid = 1
        mail_location = maildir:~/Maildir
        passdb {{
          driver = static
          args = password=secret
        }}
        userdb {{
          driver = static
          args = uid=Debian-exim gid=Debian-exim home={PLACE}/mail/%n
        }}
        service imap-login {{
          inet_listener imap {{
            port = {IMAP}
          }}
        }}
        """)])
    subprocess.Popen(["exim4", "-bdf", "-C", write("exim.conf", f"""
primary_hostname = mail.example
spool_directory = {PLACE}/exim
log_file_path = {PLACE}/exim/%slog
local_interfaces = 127.0.0.1
daemon_smtp_ports = {SMTP}
tls_advertise_hosts =
keep_environment =
domainlist local_domains = mail.example
acl_smtp_rcpt = recipient
begin acl
recipient:
  accept authenticated = *
  deny
begin routers
boxes:
  driver = accept
  domains = +local_domains
  local_parts = ann : bob
  transport = box
begin transports
box:
  driver = appendfile
  directory = {PLACE}/mail/$local_part_data/Maildir
  maildir_format
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = ${{if eq{{$auth3}}{{secret}}}}
  server_set_id = $auth2
""")])
    until("the mail servers", lambda: answers(IMAP) and answers(SMTP))


def account(name):
    """Delta Chat with an account of that name."""
    os.environ["DELTACHAT"] = SERVER
    os.environ["DC_ACCOUNTS_PATH"] = os.path.join(PLACE, "accounts-" + name)
    chat = DeltaChat()
    number = chat.call("add_account")
    chat.call("add_or_update_transport", number, {
        "addr": f"{name}@mail.example", "password": "secret", "certificateChecks": "automatic",
        "imapServer": "127.0.0.1", "imapPort": IMAP, "imapSecurity": "plain", "imapUser": name,
        "smtpServer": "127.0.0.1", "smtpPort": SMTP, "smtpSecurity": "plain", "smtpUser": name})
    return chat, number


def processes(word):
    """The processes that have a word in their command line."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                if word.encode() in file.read():
                    found.append(int(number))
        except OSError:
            pass
    return found


def main():
    serve_mail()
    ann, number = account("ann")
    bob, own = account("bob")
    card = bob.call("make_vcard", own, [1])
    # What is there when an account connects for the first time counts as old.
    bob.call("start_io", own)
    until("Bob's connection", lambda: bob.call("get_connectivity", own) >= CONNECTED)
    bob.close()
    ann.call("start_io", number)
    # With Bob's key, since Delta Chat encrypts.
    contact = ann.call("import_vcard_contents", number, card)[0]
    chat = ann.call("create_chat_by_contact_id", number, contact)

    def send(text):
        message = ann.call("misc_send_text_message", number, chat, text)
        return ann.call("get_message_info_object", number, message)["rfc724Mid"]

    settings = write("sharedcore.yaml", json.dumps({
        "backend": BACKEND, "stateDirectory": os.path.join(PLACE, "state"),
        "core": {"command": f"python3 {HERE}/core.py", "startTimeout": "60s"},
        "executor": {"memory": "none", "budget": "120s"}}))
    sharedcore = [PROGRAM, "--config", settings]

    def receive(call_id):
        run = subprocess.run(
            [*sharedcore[:1], "executor", *sharedcore[1:], "--json", "--call-id", call_id],
            stdout=subprocess.PIPE, text=True, timeout=300)
        if run.returncode != 0:
            sys.exit(f"the Executor ended with {run.returncode}: {run.stdout}")
        return json.loads(run.stdout.splitlines()[-1])

    first = receive(send("Are you there?"))
    assert (first["event"], first["source"], first["text"]) == ("message", "core", "Are you there?"), first
    print(f"{BACKEND}: an Executor has started Delta Chat for a push, and shown: {first['text']}")

    owner = subprocess.Popen([PROGRAM, "main", "--config", settings, "--json"], stdout=subprocess.PIPE, text=True)
    assert json.loads(owner.stdout.readline())["event"] == "owning"
    second = receive(send("Shall we meet?"))
    assert (second["coreStarts"], second["text"]) == (0, "Shall we meet?"), second
    print(f"{BACKEND}: Main runs Delta Chat, and an Executor is given: {second['text']}")

    owner.kill()
    owner.wait()
    third = receive(send("At noon?"))
    assert (third["coreStarts"], third["text"]) == (1, "At noon?"), third
    assert not processes("core.py"), "no core is left"
    print(f"{BACKEND}: Main was killed, its Delta Chat went with it, and an Executor shows: {third['text']}")

    subprocess.run([PROGRAM, "check", "--config", settings], check=True)
    if BACKEND == "zmq":
        subprocess.run([PROGRAM, "hub", "--stop", "--config", settings], check=True)


main()
