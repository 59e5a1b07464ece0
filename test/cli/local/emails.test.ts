import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emailsIn } from '#src/cli/local/emails.ts';
import { temporaryFolder } from '#test/support/node/folder.ts';

it('emails are found in the log once each, however it grows, with their first link', () => {
  const folder = temporaryFolder();
  const [log, text] = [join(folder, 'wrangler.log'), join(folder, 'text.txt')];
  writeFileSync(
    text,
    'Open this to sign in:\n\nhttp://localhost:8787/portal?secret=x\n\nhttps://other\n',
  );
  const logged = (to: string) =>
    `[wrangler:info] send_email binding called with MessageBuilder:\nFrom: "Us" <a@b.example>\nTo: ${to}\nSubject: Hello\n\nText: ${text}\nHTML: x.html\n`;
  const found = (to: string) =>
    expect.stringMatching(`EMAIL  to ${to}: Hello  http://localhost:8787/portal\\?secret=x$`);
  writeFileSync(log, `{"level":"info"}\n${logged('one@x.example')}{"level":"info"}\n`);
  const emails = emailsIn(log);
  expect(emails()).toEqual([found('one@x.example')]);
  expect(emails()).toEqual([]);
  const two = logged('two@x.example');
  appendFileSync(log, two.slice(0, 100));
  expect(emails()).toEqual([]);
  appendFileSync(log, two.slice(100) + logged('three@x.example'));
  expect(emails()).toEqual([found('two@x.example'), found('three@x.example')]);
});
