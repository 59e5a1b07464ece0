import { renderMail } from '#src/people/mail/render.ts';

const link = { url: 'https://portal.example.com/portal?a=1&b=2', label: 'Sign in' };

it('an email says the same in text and in HTML, which loads and runs nothing', async () => {
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
  for (const words of [subject, 'First.', 'claims.example.com', 'Second.', 'Why you get this.'])
    expect(html).toContain(words);
  expect(html.match(/href="https:\/\/portal\.example\.com\/portal\?a=1&amp;b=2"/g)).toHaveLength(3);
  // It loads nothing, and runs nothing.
  expect(html).not.toMatch(/<img|<script|<link|<iframe|url\(|@import|@font-face|src=/);
});

it('names that people chose are text, wherever they stand', async () => {
  const hostile = '<img src=x onerror=alert(1)>"';
  const to = { url: 'https://example.com/"><b>', label: hostile };
  const evil = { name: hostile, text: hostile, link: to };
  const withButton = { ...evil, link: { ...to, button: true } };
  const { html } = await renderMail(hostile, [evil, withButton], evil);
  expect(html).not.toMatch(/<img|<b>/);
});
