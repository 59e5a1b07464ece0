// Applies filters as they change. Without this script, a form of filters has a button for it.
const form = document.querySelector('form[data-filters]');
if (form) {
  form.querySelector('[data-apply]').hidden = true;
  let latest = 0;
  let waiting;

  /** The address of the page with what is in the form now. */
  const address = () => {
    const filled = [...new FormData(form)].filter(([, value]) => value !== '');
    return `${form.action}?${new URLSearchParams(filled)}`;
  };

  const apply = async () => {
    clearTimeout(waiting);
    const mine = ++latest;
    const url = address();
    const reply = await fetch(url, { headers: { accept: 'text/html' } });
    if (mine !== latest) return;
    // What is wrong with a filter is said under its field, by the page itself.
    if (!reply.ok || reply.redirected) return location.assign(url);
    const page = new DOMParser().parseFromString(await reply.text(), 'text/html');
    if (mine !== latest) return;
    for (const part of document.querySelectorAll('[data-fresh]'))
      part.replaceChildren(
        ...(page.querySelector(`[data-fresh="${part.dataset.fresh}"]`)?.childNodes ?? []),
      );
    history.replaceState(null, '', url);
  };
  const applyOrGo = () => apply().catch(() => location.assign(address()));

  // A year that is being typed begins as 0002.
  form.addEventListener('change', ({ target }) => target.validity.valid && applyOrGo());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    applyOrGo();
  });
  form.addEventListener('input', ({ target }) => {
    clearTimeout(waiting);
    if (/^(?:text|search)$/.test(target.type)) waiting = setTimeout(applyOrGo, 400);
  });
}
