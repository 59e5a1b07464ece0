import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '#src/cli/project/paths.ts';
import { mailTokens } from '#src/people/mail/render.ts';

const tokens = readFileSync(join(root, 'src/portal/design/tokens.css'), 'utf8');

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
