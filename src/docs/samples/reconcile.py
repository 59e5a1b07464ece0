import json, os, urllib.parse, urllib.request

headers = {
    "x-api-key": os.environ["TOKEN"],
    "Connection-Id": os.environ["CONNECTION_ID"],
    "User-Agent": "acme-fleet/1.0",
}
delivered = set()
if os.path.exists("deliveries.ndjson"):
    with open("deliveries.ndjson") as inbox:
        delivered = {json.loads(line)["data"]["eventId"] for line in inbox}
cursor = ""
if os.path.exists("reconcile-cursor.txt"):
    with open("reconcile-cursor.txt") as kept:
        cursor = kept.read()

events, more = {}, True
while more:
    query = {"kinds": "safetyEvent", "limit": "500"}
    if cursor:
        query["cursor"] = cursor
    url = f"{os.environ['BASE_URL']}/changes?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as reply:
        page = json.load(reply)
    for change in page["data"]:
        events[change["id"]] = change["data"]
    cursor = page["resume"]
    more = "next" in page

events = {id: event for id, event in events.items() if event}  # without those that were deleted
missing = [event for id, event in events.items() if id not in delivered]
with open("gap.ndjson", "w") as gap:
    gap.writelines(json.dumps(event) + "\n" for event in missing)
with open("reconcile-cursor.txt", "w") as kept:
    kept.write(cursor)
print(f"{len(events)} events, {len(missing)} of them not delivered")
