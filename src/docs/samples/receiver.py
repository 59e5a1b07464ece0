import hmac, json, os, queue, ssl, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"].encode()
INBOX = "deliveries.ndjson"  # in production: a table with a unique key on the Delivery-Id

lock = threading.Lock()
jobs = queue.Queue()
seen = set()
levels = {}  # the highest level known of each accident


def is_news(delivery):
    """False for a level of an accident that comes after a higher one."""
    data = delivery["data"]
    if delivery["type"] != 1:
        return True
    if data["notificationLevel"] <= levels.get(data["eventId"], 0):
        return False
    levels[data["eventId"]] = data["notificationLevel"]
    return True


if os.path.exists(INBOX):
    with open(INBOX) as inbox:
        for line in inbox:
            stored = json.loads(line)
            seen.add(stored["id"])
            is_news(stored)


class Receiver(BaseHTTPRequestHandler):
    timeout = 30

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        secret = self.headers.get("X-Fleet-Secret", "").encode()
        if not hmac.compare_digest(secret, SECRET):
            return self.respond(401)
        delivery = {"id": self.headers["Delivery-Id"], **json.loads(body)}
        if keep(delivery):
            jobs.put(delivery)
        self.respond(204)

    do_PUT = do_POST

    def respond(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *args):
        pass


def keep(delivery):
    """Stores a delivery before the response; false for a repeat."""
    with lock:
        if delivery["id"] in seen:
            return False
        with open(INBOX, "a") as inbox:
            inbox.write(json.dumps(delivery) + "\n")
        seen.add(delivery["id"])
        return True


def work():
    while True:
        delivery = jobs.get()
        data = delivery["data"]
        if not is_news(delivery):
            known = levels[data["eventId"]]
            what = ["late: accident", data["eventId"], "level", f"{data['notificationLevel']}, level {known} is known"]
        elif delivery["type"] == 1:
            what = ["accident", data["eventId"], "level", data["notificationLevel"], "vin", data["vin"], "of", data["tSP"]]
        else:
            types = ",".join(data["translatedIncidentTypes"])
            what = ["event", data["eventId"], "risk", data["eventRisk"], types, data["vehicleName"]]
        print(*what, flush=True)


threading.Thread(target=work, daemon=True).start()
port = int(os.environ.get("PORT", "9443"))
server = ThreadingHTTPServer(("", port), Receiver)
if "TLS_CERT" in os.environ:  # without it: behind a proxy that handles https
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(os.environ["TLS_CERT"], os.environ["TLS_KEY"])
    # Each call does its TLS handshake in its own thread, so that a slow caller holds up nobody else.
    server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(f"listening on {port}", flush=True)
server.serve_forever()
