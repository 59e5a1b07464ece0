// Pages work without this. It shows one language of a group at a time, copies code, puts this host into samples, and
// opens the contents of the page beside it, with the section that is being read marked.
const samples = document.querySelectorAll('figure.code');

for (const code of document.querySelectorAll('figure.code code'))
  for (const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT); texts.nextNode(); )
    texts.currentNode.data = texts.currentNode.data.replaceAll(
      'https://api.example.com',
      location.origin,
    );

for (const figure of samples) {
  const button = Object.assign(document.createElement('button'), {
    type: 'button',
    textContent: 'Copy',
  });
  button.className = 'btn btn-ghost btn-sm';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(`${figure.querySelector('code').textContent}\n`);
    button.textContent = 'Copied';
  });
  figure.append(button);
}

const show = (language) => {
  for (const group of document.querySelectorAll('.samples')) {
    const figures = [...group.querySelectorAll('figure')];
    if (!figures.some((figure) => figure.dataset.language === language)) continue;
    for (const figure of figures) figure.hidden = figure.dataset.language !== language;
    for (const button of group.querySelectorAll('.languages button'))
      button.setAttribute('aria-pressed', String(button.textContent === language));
  }
};

for (const group of document.querySelectorAll('.samples')) {
  const bar = Object.assign(document.createElement('div'), {
    className: 'languages',
    role: 'group',
  });
  bar.setAttribute('aria-label', 'Language');
  for (const { dataset } of group.querySelectorAll('figure')) {
    const button = Object.assign(document.createElement('button'), {
      type: 'button',
      textContent: dataset.language,
    });
    button.addEventListener('click', () => {
      localStorage.setItem('docs-language', dataset.language);
      show(dataset.language);
    });
    bar.append(button);
  }
  group.prepend(bar);
  show(group.querySelector('figure').dataset.language);
}
show(localStorage.getItem('docs-language'));

const contents = document.querySelector('.on-page details');
if (contents) {
  const wide = matchMedia('(width >= 80rem)');
  const openIfWide = () => {
    contents.open = wide.matches;
  };
  wide.addEventListener('change', openIfWide);
  openIfWide();

  const links = [...contents.querySelectorAll('a')];
  const headings = links.map((link) =>
    document.getElementById(decodeURIComponent(link.hash.slice(1))),
  );
  const mark = () => {
    const read = headings.findLastIndex((heading) => heading.getBoundingClientRect().top < 120);
    for (const [at, link] of links.entries())
      if (at === read) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
  };
  addEventListener('scroll', () => requestAnimationFrame(mark), { passive: true });
  mark();
}
