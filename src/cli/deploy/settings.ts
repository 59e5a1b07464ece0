import { type Command, InvalidArgumentError, Option } from 'commander';
import { cellName } from '../../platform/cells.ts';
import { emailForm, nearest } from '../../platform/fields.ts';

/** Where Cloudflare can create a database. A hint: Cloudflare picks the nearest data centre with room. */
export const locations: { [name: string]: string } = {
  wnam: 'Western North America',
  enam: 'Eastern North America',
  weur: 'Western Europe',
  eeur: 'Eastern Europe',
  apac: 'Asia-Pacific',
  oc: 'Oceania',
};

/** Where Cloudflare guarantees that data stays: the European Union, the United States, FedRAMP data centres. */
export const jurisdictions = ['eu', 'us', 'fedramp'];

/** Where a deployment's data is kept, fixed for good when it is created. */
export type Residency = { location?: string | undefined; jurisdiction?: string | undefined };

/** Where the new database will be, and that this is final. A jurisdiction overrides a location. */
export function placeWarning({ location, jurisdiction }: Residency): string {
  const where = jurisdiction
    ? `in the jurisdiction ${jurisdiction}`
    : location
      ? `in ${locations[location]} (${location})`
      : 'near the machine that deploys, without a --location or --jurisdiction';
  return `the new database is created ${where}. This cannot be changed later.`;
}

/** Of the environment variables of settings. Others with it may be of the system that deploys. */
const prefix = 'DEPLOY_';

/**
 * A setting that differs between deployments without a change to tracked files: an option on the command line or an
 * environment variable. The Worker's var `variable` stores it for later deploys.
 */
const setting = (flags: string, about: string, is: RegExp, must: string, variable?: string) => {
  const option = new Option(flags, about).argParser((text) => {
    if (!is.test(text)) throw new InvalidArgumentError(`It must be ${must}.`);
    return text;
  });
  const name = option.attributeName() as keyof Settings; // each is one
  option.env(`${prefix}${option.name().toUpperCase().replaceAll('-', '_')}`);
  return { name, option, variable };
};

export type Settings = {
  [name in
    | 'name'
    | 'cell'
    | 'domain'
    | 'emailFrom'
    | 'retentionDays'
    | 'hotDays'
    | 'mapStyleUrl'
    | 'replicas'
    | 'location'
    | 'jurisdiction']?: string | undefined;
};

const places = Object.keys(locations);

const settings = [
  setting(
    '--name <name>',
    'name of the Worker, and prefix for everything it uses',
    /^[a-z][a-z0-9-]{0,27}$/,
    'up to 28 lowercase letters, digits and hyphens, starting with a letter',
  ),
  setting(
    '--cell <name>',
    'name of the cell, if there are several: --domain is then that of the router in front of them',
    cellName,
    'up to 16 lowercase letters and digits, starting with a letter, or none',
    'CELL',
  ),
  setting(
    '--domain <host>',
    'host name to serve it at, in a zone of the account',
    /^(none|([a-z0-9-]+\.)+[a-z]{2,})$/,
    'a host name, such as api.example.com, or none',
    'ORIGIN',
  ),
  setting(
    '--email-from <address>',
    'sender of sign-in links; none: no mail',
    new RegExp(`^none$|${emailForm.source}`, 'i'),
    'an email address, or none',
    'EMAIL_FROM',
  ),
  setting(
    '--retention-days <days>',
    'how long to keep finished deliveries',
    /^([7-9]|[1-9]\d{1,3})$/,
    'a whole number of days from 7 to 9999',
    'DELIVERY_RETENTION_DAYS',
  ),
  setting(
    '--hot-days <days>',
    'how long safety events and trips stay in D1 before they are archived; 0 archives nothing',
    /^(0|[7-9]|[1-9]\d{1,3})$/,
    '0, or a whole number of days from 7 to 9999',
    'HOT_DAYS',
  ),
  setting(
    '--map-style-url <url>',
    'map style of a tile provider, which browsers will call; none: maps show outlines',
    /^(none|https:\/\/\S+)$/,
    'an https URL, or none',
    'MAP_STYLE_URL',
  ),
  setting(
    '--replicas [choice]',
    'read lists from replicas of D1 in each region',
    /^(true|false)$/,
    'true or false',
    'READ_REPLICAS',
  ),
  setting(
    '--location <place>',
    `where to create the database: ${places.join(', ')}; cannot be changed later`,
    new RegExp(`^(${places.join('|')})$`),
    `one of ${places.join(', ')}`,
  ),
  setting(
    '--jurisdiction <name>',
    `where data must stay: ${jurisdictions.join(', ')}; overrides --location, cannot be changed later`,
    new RegExp(`^(${jurisdictions.join('|')})$`),
    `one of ${jurisdictions.join(', ')}`,
  ),
];

export const settingOptions: Option[] = settings.map(({ option }) => {
  if (option.name() === 'replicas') option.preset('true');
  return option;
});

/** Reads the settings. An empty variable counts as absent, as GitHub passes those that are not set. */
export function settingsIn(program: Command): Settings {
  for (const option of settingOptions) {
    if (option.envVar && process.env[option.envVar] === '') delete process.env[option.envVar];
    program.addOption(option);
  }
  refuseMisspelt(program);
  return program.parse().opts<Settings>();
}

/** A misspelt variable would leave a setting out, of which some cannot be changed later. */
function refuseMisspelt(program: Command): void {
  const known = settingOptions.flatMap(({ envVar = '' }) => envVar.slice(prefix.length) || []);
  for (const [name, value] of Object.entries(process.env)) {
    const setting = name.slice(prefix.length);
    const meant = nearest(setting, known);
    if (name.startsWith(prefix) && value && meant && !known.includes(setting))
      program.error(`error: ${name} is not a setting, did you mean ${prefix}${meant}?`);
  }
}

/** The vars of a deployed Worker. */
export type Vars = { [name: string]: string | undefined };

/** Turns off something that an earlier deploy has set. */
const none = 'none';

/**
 * These settings, completed with the deployed Worker's. Its domain is that of its address, unless that is one that
 * Cloudflare has given to it.
 */
export function withKept(given: Settings, vars: Vars): Settings {
  const host = URL.parse(vars.ORIGIN ?? '')?.host;
  const kept = {
    ...Object.fromEntries(settings.map(({ name, variable = '' }) => [name, vars[variable]])),
    domain: host?.endsWith('.workers.dev') && !vars.CELL ? undefined : host,
  };
  const all = Object.entries({ ...kept, ...given });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined && value !== none));
}

/** Each setting with its value, as lines; `initial` are the vars of a Worker without them. */
export const inLines = (given: Settings, initial: Vars): string =>
  settings
    .map(({ name, option, variable = '' }) => {
      const value = given[name] ?? initial[variable] ?? 'not set';
      return `\n    ${option.long}: ${value}`;
    })
    .join('');
