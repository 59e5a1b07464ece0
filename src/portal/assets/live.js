// Pages work without this: it asks every few seconds, while the page can be seen, whether anything that the page shows
// has changed, and only then fetches the page and replaces its parts that are marked `data-live`.
const { versionUrl, version } = document.body.dataset;
const everyMs = 4000;
const afterChangeMs = 8000; // where something changes all the time
const longestMs = 60_000;

let shown = version;
let waitMs = everyMs;
let timer;

async function look() {
  const reply = await fetch(versionUrl);
  if (reply.redirected) return undefined; // signed out: nothing more to ask for
  if (!reply.ok) throw new Error(reply.statusText);
  const { version } = await reply.json();
  if (version === shown) return everyMs;
  await refresh();
  shown = version;
  return afterChangeMs;
}

async function refresh() {
  const { href, search } = location;
  const reply = await fetch(href, { headers: { accept: 'text/html' } });
  if (!reply.ok || reply.redirected) throw new Error(reply.statusText);
  const fresh = new DOMParser().parseFromString(await reply.text(), 'text/html');
  if (location.search !== search) return; // its filters show what they found
  for (const part of document.querySelectorAll('[data-live]')) {
    const next = part.id
      ? fresh.getElementById(part.id)
      : fresh.querySelector('[data-live]:not([id])');
    const isInUse =
      part.contains(document.activeElement) || part.querySelector(':checked, details[open]');
    if (next && next.innerHTML !== part.innerHTML && !isInUse) part.innerHTML = next.innerHTML;
  }
}

/** Asks, and again after a while: sooner or later if it fails. A page that cannot be seen asks for nothing. */
async function lookOn() {
  clearTimeout(timer);
  if (document.hidden) return;
  try {
    waitMs = await look();
    if (waitMs === undefined) return;
  } catch {
    waitMs = Math.min(2 * (waitMs ?? everyMs), longestMs);
  }
  clearTimeout(timer);
  timer = setTimeout(lookOn, waitMs);
}

if (versionUrl && document.querySelector('[data-live]')) {
  document.addEventListener('visibilitychange', lookOn);
  timer = setTimeout(lookOn, everyMs);
}
