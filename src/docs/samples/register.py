import json, os, urllib.error, urllib.request

webhook = {
    "connectionIds": [os.environ["CONNECTION_ID"]],
    "url": os.environ["RECEIVER_URL"],
    "httpVerb": "POST",
    "headers": {"X-Fleet-Secret": os.environ["WEBHOOK_SECRET"]},
    "notificationTypes": [1, 2],
}
request = urllib.request.Request(
    os.environ["BASE_URL"] + "/webhook",
    data=json.dumps(webhook).encode(),
    headers={"x-api-key": os.environ["TOKEN"], "Content-Type": "application/json", "User-Agent": "acme-fleet/1.0"},
)
try:
    with urllib.request.urlopen(request) as reply:
        created = json.load(reply)
        print(created["message"], created["data"]["id"])
except urllib.error.HTTPError as refused:
    raise SystemExit(f"{refused.code} {json.load(refused)['message']}")
