import { mailTokens } from '#src/people/mail/render.ts';
import { readText, root } from '#test/support/node/index.ts';

const tokens = readText(root, 'src/portal/design/tokens.css');

it.each([
  ['light', 'fleet'],
  ['dark', 'fleet-dark'],
] as const)('the colours of emails in %s are the tokens of all pages', (theme, name) => {
  const [ours = ''] = tokens.split(`name: "${name}";`)[1]?.split('}') ?? [];
  const [light, dark] = tokens.match(/--muted: #\w+;/g) ?? [];
  const { muted, ...colours } = mailTokens[theme];
  expect(theme === 'light' ? light : dark).toBe(`--muted: ${muted};`);
  for (const [token, value] of Object.entries(colours))
    expect(ours).toContain(`--color-${token}: ${value};`);
});
