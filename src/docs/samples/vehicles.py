import json, os, urllib.request

headers = {
    "x-api-key": os.environ["TOKEN"],
    "Connection-Id": os.environ["CONNECTION_ID"],
    "User-Agent": "acme-fleet/1.0",
}
request = urllib.request.Request(os.environ["BASE_URL"] + "/vehicles?limit=10", headers=headers)
with urllib.request.urlopen(request) as reply:
    for vehicle in json.load(reply)["data"]:
        print(vehicle["id"], vehicle["name"], vehicle["vin"])
