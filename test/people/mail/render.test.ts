import { renderMail } from '#src/people/mail/render.ts';

const link = { url: 'https://portal.example.com/portal?a=1&b=2', label: 'Sign in' };

it('an email says the same in text and in HTML', async () => {
  const parts = [
    { text: 'First.' },
    { name: 'claims.example.com', text: 'Second.', link },
    { text: '', link: { ...link, button: true } },
  ];
  const { subject, text, html } = await renderMail('A subject', parts, {
    text: 'Why you get this.',
    link,
  });
  expect(subject).toBe('A subject');
  expect(text.split('\n\n')).toEqual([
    'First.',
    `claims.example.com: Second. ${link.url}`,
    link.url,
    `Why you get this. ${link.url}`,
  ]);
  for (const words of [
    'A subject',
    'First.',
    'claims.example.com',
    'Second.',
    'Why you get this.',
    'Sign in',
  ])
    expect(html).toContain(words);
  expect(html.match(/href="https:\/\/portal\.example\.com\/portal\?a=1&amp;b=2"/g)).toHaveLength(3);
});

it('names that people chose are text, wherever they stand', async () => {
  const hostile = '<img src=x onerror=alert(1)>"';
  const evil = {
    name: hostile,
    text: hostile,
    link: { url: 'https://example.com/"><b>', label: hostile },
  };
  const { html } = await renderMail(
    hostile,
    [evil, { ...evil, link: { ...evil.link, button: true } }],
    evil,
  );
  expect(html).not.toMatch(/<img|<b>/);
});

it('an email loads nothing, and runs nothing', async () => {
  const { html } = await renderMail('A subject', [{ text: 'Text', link }], { text: 'Footer' });
  expect(html).not.toMatch(/<img|<script|<link|<iframe|url\(|@import|@font-face|src=/);
});
