import { Command } from 'commander';
import type { Call, Data, Item } from './client.ts';
import { operatorFor } from './context.ts';
import { type Shown, show } from './print.ts';

/** Commands under one name, such as `fleet account …`. */
export const group = (name: string, description: string, commands: Command[]): Command =>
  commands.reduce((all, one) => all.addCommand(one), new Command(name).description(description));

/** What somebody gave a command: its arguments and options by their names. */
// biome-ignore lint/suspicious/noExplicitAny: as commander has them; the service checks what it gets
type Given = { [name: string]: any };

/** Whose id is the `:id` in the path of a call, such as `account`. */
const ownerIn = (call: string): string => /^\w+ \/([\w-]+)s\/:id/.exec(call)?.[1] ?? '';

/**
 * A command that makes one call, and shows what that returns. What it is given, or what `asks` makes of that, is the
 * call's by name: the ids in its path, and then the fields of its body or query.
 */
export const calling = <C extends Call>(
  name: string,
  description: string,
  call: C,
  shown: Shown<Data<C>, Item<C>>,
  asks: (given: Given, command: Command) => object = (given) => given,
): Command =>
  new Command(name).description(description).action(async (...all: unknown[]) => {
    const command = all.at(-1) as Command; // what commander passes last
    const named = command.registeredArguments.map((one, at) => [one.name(), command.processedArgs[at]]);
    const given: Given = { ...Object.fromEntries(named), ...command.opts() };
    const { [ownerIn(call)]: id, ...rest } = given;
    const values = await asks(id === undefined ? given : { id, ...rest }, command);
    const found = await operatorFor(command).call(call, ...([asked(call, values)] as never)); // as it declares
    show(command, found, shown);
  });

/** Such a command about one thing, which its first argument names. */
export const about = <C extends Call>(...of: Parameters<typeof calling<C>>): Command =>
  calling(...of).argument('<id>', `id of the ${ownerIn(of[2])}`);

/** Such a command about what an account or a connection has, which an option names. */
export const within = <C extends Call>(...of: Parameters<typeof calling<C>>): Command =>
  calling(...of).requiredOption(`--${ownerIn(of[2])} <id>`, `id of the ${ownerIn(of[2])}`);

/** What a call is asked, from values by their names. */
function asked(call: string, given: object): object {
  const values = Object.entries(given).filter(([, value]) => value !== undefined);
  const isId = ([name]: [string, unknown]) => call.includes(`/:${name}`);
  const fields = Object.fromEntries(values.filter((one) => !isId(one)));
  return {
    ...Object.fromEntries(values.filter(isId)),
    ...(Object.keys(fields).length > 0 && { [call.startsWith('GET ') ? 'query' : 'body']: fields }),
  };
}
