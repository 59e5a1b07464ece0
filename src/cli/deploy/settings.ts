import { type Command, Option } from 'commander';
import { email as emailAddress, is as fits, pipe, string } from 'valibot';
import { mainHome } from '../../platform/homes/names.ts';
import { problemOfHome } from '../project/homes.ts';
import { jurisdictions, locations } from './place.ts';
import { Stopped } from './wrangler.ts';

/** A setting that differs between deployments without a change to tracked files. */
type Setting = {
  flags: string;
  about: string;
  /** What is wrong with a value, to follow the option's name. */
  problem: (text: string) => string | undefined;
  /** The Worker's var that stores it for later deploys. */
  variable?: string;
};

const must =
  (is: RegExp | ((text: string) => boolean), what: string): Setting['problem'] =>
  (text) =>
    (typeof is === 'function' ? is(text) : is.test(text)) ? undefined : ` must be ${what}`;

const oneOf =
  (choices: readonly string[]): Setting['problem'] =>
  (text) =>
    choices.includes(text) ? undefined : ` must be one of ${choices.join(', ')}, not "${text}"`;

const places = Object.keys(locations);

const settings = {
  name: {
    flags: '--name <name>',
    about: 'name of the Worker, and prefix for everything it uses',
    problem: must(
      /^[a-z][a-z0-9-]{0,29}$/,
      'up to 30 lowercase letters, digits and hyphens, starting with a letter',
    ),
  },
  domain: {
    flags: '--domain <host>',
    about: 'host name to serve it at, in a zone of the account',
    problem: must(/^(none|([a-z0-9-]+\.)+[a-z]{2,})$/, 'a host name, such as api.example.com, or none'),
    variable: 'ORIGIN',
  },
  emailFrom: {
    flags: '--email-from <address>',
    about: 'sender of sign-in links; none: no mail',
    problem: must(
      (text) => text === 'none' || fits(pipe(string(), emailAddress()), text),
      'an email address, or none',
    ),
    variable: 'EMAIL_FROM',
  },
  retentionDays: {
    flags: '--retention-days <days>',
    about: 'how long to keep finished deliveries',
    problem: must(/^([7-9]|[1-9]\d{1,3})$/, 'a whole number of days from 7 to 9999'),
    variable: 'DELIVERY_RETENTION_DAYS',
  },
  hotDays: {
    flags: '--hot-days <days>',
    about:
      'how long safety events, trips and accidents stay in D1 before they are archived; 0 archives nothing',
    problem: must(/^(0|[3-9]\d|[1-9]\d{2,3})$/, '0, or a whole number of days from 30 to 9999'),
    variable: 'HOT_DAYS',
  },
  mapStyleUrl: {
    flags: '--map-style-url <url>',
    about: 'map style of a tile provider, which browsers will call; none: maps show outlines',
    problem: must(
      (text) => text === 'none' || URL.parse(text)?.protocol === 'https:',
      'an https URL, or none',
    ),
    variable: 'MAP_STYLE_URL',
  },
  replicas: {
    flags: '--replicas [choice]',
    about: 'read lists from replicas of D1 in each region',
    problem: must(/^(true|false)$/, 'true or false'),
    variable: 'READ_REPLICAS',
  },
  location: {
    flags: '--location <place>',
    about: `where to create the database: ${places.join(', ')}; cannot be changed later`,
    problem: oneOf(places),
  },
  jurisdiction: {
    flags: '--jurisdiction <name>',
    about: `where data must stay: ${jurisdictions.join(', ')}; overrides --location, cannot be changed later`,
    problem: oneOf(jurisdictions),
  },
  home: {
    flags: '--home <name>',
    about: 'add a home, at the --location or in the --jurisdiction beside it; later deploys know it',
    problem(name) {
      if (name === mainHome) return ' main is there already: deploy without --home';
      // Its database would have the name of that of the deployment `--name fleet`.
      if (name === 'fleet') return ' cannot be fleet: choose another name';
      const problem = problemOfHome(name);
      return problem && `: ${problem}`;
    },
  },
} satisfies { [name: string]: Setting };

type Texts = Exclude<keyof typeof settings, 'replicas' | 'location'>;
export type Settings = { [name in Texts]?: string | undefined } & {
  location?: keyof typeof locations | undefined;
  replicas?: boolean | undefined;
};

/** The options for the settings, on the command line or, all but --home, by environment variables. */
export const settingOptions: Option[] = Object.values(settings).map(({ flags, about }) => {
  const option = new Option(flags, about);
  const variable = `DEPLOY_${option.name().toUpperCase().replaceAll('-', '_')}`;
  return option.name() === 'home' ? option : option.env(variable);
});

/** The options as given. With --home, a place is that home's if it was typed: in the environment it is main's. */
export function optionsOf(program: Command): object {
  const options = program.opts<{ [name: string]: string | undefined }>();
  const others = Object.entries(options).filter(
    ([name]) => !/^(location|jurisdiction)$/.test(name) || program.getOptionValueSource(name) === 'cli',
  );
  return options.home === undefined ? options : Object.fromEntries(others);
}

const known = new Map<string, Setting>(Object.entries(settings));

/** Validates the options; an empty one counts as absent, as GitHub passes unset variables. @throws Stopped */
export function settingsOf(options: object): Settings {
  const given: [string, unknown][] = [];
  for (const [name, value] of Object.entries(options)) {
    const setting = known.get(name);
    if (!setting || value === '' || value === undefined) continue;
    const problem = setting.problem(String(value));
    if (problem) throw new Stopped(setting.flags.replace(/ .*/, problem));
    given.push([name, name === 'replicas' ? String(value) === 'true' : value]);
  }
  return Object.fromEntries(given);
}

/** The vars of a deployed Worker. */
export type Vars = { [name: string]: string | undefined };

/** Turns off something that an earlier deploy has set. */
const none = 'none';

/**
 * These settings, completed with the deployed Worker's. Its domain is that of its address, unless that is Cloudflare's
 * own.
 */
export function withKept(given: Settings, vars: Vars): Settings {
  const host = URL.parse(vars.ORIGIN ?? '')?.host;
  const kept = {
    ...Object.fromEntries([...known].map(([name, { variable = '' }]) => [name, vars[variable]])),
    domain: host?.endsWith('.workers.dev') ? undefined : host,
    replicas: vars.READ_REPLICAS === 'true' || undefined,
  };
  const all = Object.entries({ ...kept, ...given }).filter(
    ([, value]) => value !== undefined && value !== none,
  );
  return Object.fromEntries(all);
}

/** Each setting with its value, as lines; `initial` are the vars of a Worker without them. */
export const inLines = (settings: Settings, initial: Vars): string =>
  settingOptions
    .map((option) => {
      const name = option.attributeName() as keyof Settings; // each is of one
      const { variable = '' } = known.get(name) ?? {};
      return `\n    ${option.long}: ${settings[name] ?? initial[variable] ?? 'not set'}`;
    })
    .join('');
