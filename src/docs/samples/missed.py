import json, os, urllib.parse, urllib.request

received = set()
if os.path.exists("deliveries.ndjson"):
    with open("deliveries.ndjson") as inbox:
        received = {json.loads(line)["id"] for line in inbox}

count, missed, cursor = 0, 0, None
while True:
    query = {"webhookId": os.environ["WEBHOOK_ID"], "from": os.environ["FROM"], "to": os.environ["TO"], "limit": "500"}
    if cursor:
        query["cursor"] = cursor
    url = f"{os.environ['BASE_URL']}/deliveries?{urllib.parse.urlencode(query)}"
    request = urllib.request.Request(url, headers={"x-api-key": os.environ["TOKEN"], "User-Agent": "acme-fleet/1.0"})
    with urllib.request.urlopen(request) as reply:
        page = json.load(reply)
    for delivery in page["data"]:
        count += 1
        if delivery["id"] in received:
            continue
        missed += 1
        accident = f"accident {delivery['eventId']} level {delivery['level']}"
        what = accident if delivery["type"] == 1 else f"event {delivery['eventId']}"
        last = delivery["lastAnswer"]
        result = f"last response: {last['status'] or last['kind']}" if last else "not tried"
        print(delivery["status"], delivery["id"], what, result)
    cursor = page.get("next")
    if not cursor:
        break
print(f"{count} deliveries, {missed} of them missed")
