import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ApiError } from './client.ts';

/** Asks at the terminal. @throws ApiError, which says what to do without one, or that Ctrl-D is no answer */
export async function ask(question: string, withoutTerminal: string): Promise<string> {
  if (!process.stdin.isTTY) throw new ApiError(withoutTerminal);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  terminal.on('SIGINT', () => process.exit(130)).setPrompt(`${question} `);
  terminal.prompt();
  const [answer] = await Promise.race([once(terminal, 'line'), once(terminal, 'close')]);
  terminal.close();
  if (answer === undefined) throw new ApiError('Nothing has changed');
  return answer.trim();
}

/** Asks a yes-or-no question. @throws ApiError, when there is no terminal */
export const agrees = async (question: string, withoutTerminal: string): Promise<boolean> =>
  /^y(es)?$/i.test(await ask(`${question} [y/N]`, withoutTerminal));
