import { InvalidArgumentError } from 'commander';
import { homeName, mainHome } from '../../platform/homes/names.ts';

/** What each home has of its own, as tables of wrangler.toml. */
const own = /^\[\[(d1_databases|r2_buckets|queues\.producers|queues\.consumers)\]\]\n(?:.+\n)+/gm;

/**
 * Adds homes to the text of wrangler.toml: they get everything that main has of its own, with the same settings, under
 * bindings and names that end in theirs, such as `DB_EU` and `fleet-eu`.
 */
export function withHomes(toml: string, homes: string[]): string {
  const parts = toml.match(own) ?? [];
  return [toml, ...homes.flatMap((home) => parts.map((part) => partOf(home, part)))].join('\n');
}

const partOf = (home: string, part: string): string =>
  part
    .replace(/^binding = "(.+)"$/m, `binding = "${bindingOf('$1', home)}"`)
    .replace(/^(database_name|bucket_name|queue|dead_letter_queue) = "(.+)"$/gm, `$1 = "$2-${home}"`);

/** The name of main's binding `main` in a home. */
export const bindingOf = (main: string, home: string): string =>
  home === mainHome ? main : `${main}_${home.toUpperCase()}`;

/** The homes besides main in a list such as `main,eu,us2`. @throws InvalidArgumentError */
export function furtherHomes(list: string): string[] {
  const others = new Set(list.split(','));
  others.delete(mainHome);
  for (const name of others)
    if (!homeName.test(name))
      throw new InvalidArgumentError(
        `A home's name is up to 16 lowercase letters and digits and starts with a letter, such as eu or us2, not "${name}".`,
      );
  return [...others];
}
