import { openSync, readFileSync } from 'node:fs';

/** The emails that the service sends, which the local runtime logs: each call returns a line for each new one. */
export function emailsIn(logFile: string): () => string[] {
  const file = openSync(logFile, 'r');
  let rest = '';
  return () => {
    rest += readFileSync(file, 'utf8'); // from where the last call ended
    const found = [...rest.matchAll(logged)];
    const last = found.at(-1);
    rest = (last ? rest.slice(last.index + last[0].length) : rest).slice(-mostOfOne);
    return found.map(([, to = '', subject = '', textFile = '']) =>
      lineOf(to, subject, readFileSync(textFile, 'utf8')),
    );
  };
}

const logged = /^To: (.+)\n(?:[\w-]+: .*\n)*?Subject: (.+)\n(?:.*\n)*?Text: (.+\.txt)\n/gm;
const mostOfOne = 10_000;

function lineOf(to: string, subject: string, text: string): string {
  const link = /https?:\/\/\S+/.exec(text)?.[0] ?? '';
  return `  ${new Date().toISOString().slice(11, 19)}  EMAIL  to ${to}: ${subject}  ${link}`.trimEnd();
}
