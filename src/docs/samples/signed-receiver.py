import base64, hashlib, hmac, os, time
from http.server import BaseHTTPRequestHandler, HTTPServer

KEY = base64.b64decode(os.environ["SIGNING_SECRET"].removeprefix("whsec_"))


def is_ours(headers, body):
    id, at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not at.isdecimal() or abs(time.time() - int(at)) > 300:
        return False
    signed = f"{id}.{at}.".encode() + body
    right = "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    signatures = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(one, right) for one in signatures)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        verified = is_ours(self.headers, body)
        if verified:
            print("verified", body.decode(), flush=True)
        self.send_response(204 if verified else 401)
        self.end_headers()


server = HTTPServer(("", int(os.environ["PORT"])), Receiver)
print("listening", flush=True)
server.serve_forever()
