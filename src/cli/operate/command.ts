import { Command } from 'commander';
import type { Call, Data, Item } from './client.ts';
import { operatorFor } from './context.ts';
import { type Shown, show } from './print.ts';

export const group = (name: string, description: string, commands: Command[]): Command =>
  commands.reduce((all, one) => all.addCommand(one), new Command(name).description(description));

/** What somebody gave a command: its arguments and options by their names. */
// biome-ignore lint/suspicious/noExplicitAny: as commander has them; the service checks what it gets
type Given = { [name: string]: any };

/** The type of the `:id` in a call's path, such as `account`. */
const ownerIn = (call: string): string => /^\w+ \/([\w-]+)s\/:id/.exec(call)?.[1] ?? '';

/**
 * A command that makes one call and shows the result. Its arguments and options, or what `asks` makes of them, are the
 * call's ids and fields by name.
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

/** Such a command about the things of an account or a connection, which an option names. */
export const within = <C extends Call>(...of: Parameters<typeof calling<C>>): Command =>
  calling(...of).requiredOption(`--${ownerIn(of[2])} <id>`, `id of the ${ownerIn(of[2])}`);

/** A call's parameters, from values by name. */
function asked(call: string, given: object): object {
  const values = Object.entries(given).filter(([, value]) => value !== undefined);
  const isId = ([name]: [string, unknown]) => call.includes(`/:${name}`);
  const fields = Object.fromEntries(values.filter((one) => !isId(one)));
  return {
    ...Object.fromEntries(values.filter(isId)),
    ...(Object.keys(fields).length > 0 && { [call.startsWith('GET ') ? 'query' : 'body']: fields }),
  };
}
