// Pages work without this: it copies what is shown, and refreshes a page that waits for something to happen.
for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = 'Copied';
  });
}

const live = document.querySelector('[data-live]');
if (live) {
  const refresh = async () => {
    const reply = await fetch(location.href, { headers: { accept: 'text/html' } });
    if (!reply.ok || reply.redirected) return;
    const fresh = new DOMParser()
      .parseFromString(await reply.text(), 'text/html')
      .querySelector('[data-live]');
    if (fresh && fresh.innerHTML !== live.innerHTML && !live.contains(document.activeElement))
      live.innerHTML = fresh.innerHTML;
  };
  setInterval(() => document.hidden || refresh().catch(() => {}), 2000);
}
