import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emailsIn } from '#src/cli/local/emails.ts';
import { temporaryFolder } from '#test/support/node/index.ts';

it('emails are found in the log once each, however it grows, with their first link', () => {
  const folder = temporaryFolder();
  const [log, text] = [join(folder, 'wrangler.log'), join(folder, 'text.txt')];
  writeFileSync(text, 'Sign in:\n\nhttp://localhost:8787/portal?secret=x\n\nhttps://other\n');
  const logged = (to: string) =>
    `send_email binding called with MessageBuilder:\nFrom: a@b.example\nTo: ${to}\nSubject: Hello\n\nText: ${text}\n`;
  const found = (to: string) =>
    expect.stringMatching(`EMAIL  to ${to}: Hello  http://localhost:8787/portal\\?secret=x$`);
  writeFileSync(log, `{"level":"info"}\n${logged('one')}{"level":"info"}\n`);
  const emails = emailsIn(log);
  expect(emails()).toEqual([found('one')]);
  expect(emails()).toEqual([]);
  const two = logged('two');
  appendFileSync(log, two.slice(0, 100));
  expect(emails()).toEqual([]);
  appendFileSync(log, two.slice(100) + logged('three'));
  expect(emails()).toEqual([found('two'), found('three')]);
});
