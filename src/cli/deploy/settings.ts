import { type Command, Option } from 'commander';
import * as v from 'valibot';
import { mainHome } from '../../platform/homes/names.ts';
import { problemOfHome } from '../project/homes.ts';
import { jurisdictions, locations } from './place.ts';
import { Stopped } from './wrangler.ts';

const places = Object.keys(locations) as (keyof typeof locations)[]; // an object's own keys

const choice = <const T extends readonly string[]>(flag: string, choices: T) =>
  v.picklist(choices, ({ received }) => `${flag} must be one of ${choices.join(', ')}, not ${received}`);

const location = v.optional(choice('--location', places));
const jurisdiction = v.optional(choice('--jurisdiction', jurisdictions));

const Settings = v.object({
  name: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^[a-z][a-z0-9-]{0,29}$/,
        '--name must be up to 30 lowercase letters, digits and hyphens, starting with a letter',
      ),
    ),
  ),
  domain: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^(none|([a-z0-9-]+\.)+[a-z]{2,})$/,
        '--domain must be a host name, such as api.example.com, or none',
      ),
    ),
  ),
  emailFrom: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (text) => text === 'none' || v.is(v.pipe(v.string(), v.email()), text),
        '--email-from must be an email address, or none',
      ),
    ),
  ),
  retentionDays: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^([7-9]|[1-9]\d{1,3})$/, '--retention-days must be a whole number of days from 7 to 9999'),
    ),
  ),
  hotDays: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^(0|[3-9]\d|[1-9]\d{2,3})$/,
        '--hot-days must be 0, or a whole number of days from 30 to 9999',
      ),
    ),
  ),
  mapStyleUrl: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (text) => text === 'none' || URL.parse(text)?.protocol === 'https:',
        '--map-style-url must be an https URL, or none',
      ),
    ),
  ),
  replicas: v.optional(
    v.pipe(
      v.union([v.literal(true), v.picklist(['true', 'false'])], '--replicas must be true or false'),
      v.transform((choice) => choice !== 'false'),
    ),
  ),
  location,
  jurisdiction,
  home: v.optional(
    v.pipe(
      v.string(),
      v.check((name) => name !== mainHome, '--home main is there already: deploy without --home'),
      // Its database would have the name of that of the deployment `--name fleet`.
      v.check((name) => name !== 'fleet', '--home cannot be fleet: choose another name'),
      v.check(
        (name) => problemOfHome(name) === undefined,
        ({ input }) => `--home: ${problemOfHome(input)}`,
      ),
    ),
  ),
  homeLocation: location,
  homeJurisdiction: jurisdiction,
});

/** What may differ from one deployment to the next without a change to tracked files. */
export type Settings = v.InferOutput<typeof Settings>;

const option = (flags: string, description: string, env: string) => new Option(flags, description).env(env);

/** The options that set them, on the command line or by environment variables. */
export const settingOptions: Option[] = [
  option('--name <name>', 'name of the Worker, and prefix for everything it uses', 'DEPLOY_NAME'),
  option('--domain <host>', 'host name to serve it at, in a zone of the account', 'DEPLOY_DOMAIN'),
  option('--email-from <address>', 'sender of sign-in links; none: no mail', 'DEPLOY_EMAIL_FROM'),
  option('--retention-days <days>', 'how long to keep finished deliveries', 'DEPLOY_RETENTION_DAYS'),
  option(
    '--hot-days <days>',
    'how long safety events, trips and accidents stay in D1 before they are archived; 0 archives nothing',
    'DEPLOY_HOT_DAYS',
  ),
  option(
    '--map-style-url <url>',
    'map style of a tile provider, which pages with a map will call; none: maps show outlines',
    'DEPLOY_MAP_STYLE_URL',
  ),
  option(
    '--replicas [choice]',
    'keep a replica of D1 in each region, and read lists from the nearest one',
    'DEPLOY_REPLICAS',
  ),
  option(
    '--location <place>',
    `where to create the database: ${places.join(', ')}; cannot be changed later`,
    'DEPLOY_LOCATION',
  ),
  option(
    '--jurisdiction <name>',
    `where data must stay: ${jurisdictions.join(', ')}; overrides --location, cannot be changed later`,
    'DEPLOY_JURISDICTION',
  ),
  new Option(
    '--home <name>',
    'add a home, at the --location or in the --jurisdiction beside it; later deploys know it',
  ),
];

/**
 * The options as they were given. With --home, a place on the command line is that home's, and main's can only be in the
 * environment.
 */
export function optionsOf(program: Command): object {
  const options = program.opts<{ [name: string]: string | undefined }>();
  if (options.home === undefined) return options;
  const typed = (name: string) => (program.getOptionValueSource(name) === 'cli' ? options[name] : undefined);
  return {
    ...options,
    location: process.env.DEPLOY_LOCATION,
    jurisdiction: process.env.DEPLOY_JURISDICTION,
    homeLocation: typed('location'),
    homeJurisdiction: typed('jurisdiction'),
  };
}

/** What a Worker was deployed with, by the names of its vars. */
export type Vars = { [name: string]: string | undefined };

/** The settings that end as vars of the Worker, and so are known to later deploys. */
const variables: { [setting: string]: string } = {
  domain: 'ORIGIN',
  emailFrom: 'EMAIL_FROM',
  retentionDays: 'DELIVERY_RETENTION_DAYS',
  hotDays: 'HOT_DAYS',
  mapStyleUrl: 'MAP_STYLE_URL',
  replicas: 'READ_REPLICAS',
};

/** What turns something off that an earlier deploy has set. */
const none = 'none';

/**
 * These settings, and for each that a deploy is not told, what the Worker with these vars was deployed with. Its domain
 * is that of its address, unless that is Cloudflare's own.
 */
export function withKept(given: Settings, vars: Vars): Settings {
  const host = URL.parse(vars.ORIGIN ?? '')?.host;
  const kept = {
    ...Object.fromEntries(Object.entries(variables).map(([setting, name]) => [setting, vars[name]])),
    domain: host?.endsWith('.workers.dev') ? undefined : host,
    replicas: vars.READ_REPLICAS === 'true' || undefined,
  };
  const all = Object.entries({ ...kept, ...given }).filter(
    ([, value]) => value !== undefined && value !== none,
  );
  return Object.fromEntries(all);
}

/** Each setting with its value and where that comes from, as lines; `vars` are those of the Worker, once they are known. */
export function sources(program: Command, initial: Vars, vars?: Vars): string {
  const options = program.opts<{ [name: string]: unknown }>();
  const lines = settingOptions.map((option) => {
    const name = option.attributeName();
    const given = options[name];
    const variable = variables[name] ?? '';
    const otherwise = initial[variable] ?? 'not set';
    const source = program.getOptionValueSource(name) === 'env' ? option.envVar : 'the command line';
    const deployed = vars ? vars[variable] : variable && 'what is deployed';
    if (given !== undefined && given !== '') return [option.long, given, `from ${source}`];
    if (!deployed) return [option.long, otherwise, 'by default'];
    return [option.long, deployed, vars ? 'as it is deployed' : `or, at first, ${otherwise}`];
  });
  return lines.map(([long, value, source]) => `\n    ${long}: ${value}, ${source}`).join('');
}

/** Checks the options' values; an empty one counts as absent, as GitHub passes variables that are not set. @throws Stopped */
export function settingsOf(options: object): Settings {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== ''));
  const { success, output, issues } = v.safeParse(Settings, given);
  if (!success) throw new Stopped(issues[0].message);
  return output;
}
