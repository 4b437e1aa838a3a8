"""Dovecot and Exim with accounts of Ann and Bob, and Delta Chat with one of them. For the stories, in namespaces of their own."""

import os
import socket
import subprocess
import sys
import tempfile
import time

from core import DeltaChat

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
# Otherwise it keeps what comes behind the tenth message of a connection until a later queue run.
smtp_accept_queue_per_connection = 0
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
    """Delta Chat with an account of that name. The program that comes last has the variable of its accounts."""
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


def ann_and_bob():
    """Starts the servers and makes both accounts. Returns Ann's Delta Chat, her account and her chat with Bob, whose has ended."""
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
    return ann, number, ann.call("create_chat_by_contact_id", number, contact)
