import { type Command, InvalidArgumentError, Option } from 'commander';
import * as v from 'valibot';
import { nearest } from '../../core/platform/nearest.ts';
import { Vars } from '../../core/platform/vars.ts';

/** Where Cloudflare can create a database: a hint, which it follows if there is room. */
const locations = ['wnam', 'enam', 'weur', 'eeur', 'apac', 'oc'];

/** Where Cloudflare guarantees that data is stored; `fedramp` are data centres for that. */
const jurisdictions = ['eu', 'us', 'fedramp'];

/** Where a deployment's data is kept, fixed for good when it is created. */
export type Residency = { location?: string | undefined; jurisdiction?: string | undefined };

/** Where the new database will be, and that this is final. A jurisdiction overrides a location. */
export function placeWarning({ location, jurisdiction }: Residency): string {
  const where = jurisdiction
    ? `in the jurisdiction ${jurisdiction}`
    : location
      ? `at the location ${location}`
      : 'near the machine that deploys, without a --location or --jurisdiction';
  return `the new database is created ${where}. This cannot be changed later.`;
}

/** Of the environment variables of settings. Others with it may be of the system that deploys. */
const prefix = 'DEPLOY_';

/** Turns off something that an earlier deploy has set. */
const none = 'none';

/**
 * What differs between deployments: an option, or an environment variable. A var of the Worker stores it for later
 * deploys, unless it is `none`, and says what the service accepts.
 */
function setting(flags: string, about: string, variable = '', schema = accepted(variable)) {
  const option = new Option(flags, about);
  option.env(`${prefix}${option.name().toUpperCase().replaceAll('-', '_')}`);
  if (schema)
    option.argParser((text) => {
      const { issues: [issue] = [] } = v.safeParse(
        schema,
        variable && text === none ? undefined : text,
      );
      if (issue) throw new InvalidArgumentError(`It ${issue.message}${variable && ', or none'}.`);
      return text;
    });
  return Object.assign(option, { variable });
}

const accepted = (variable: string): v.GenericSchema | undefined =>
  Object.entries(Vars.entries).find(([name]) => name === variable)?.[1];

const form = (is: RegExp, message: string) => v.optional(v.pipe(v.string(), v.regex(is, message)));

const workerName = form(
  /^[a-z][a-z0-9-]{0,27}$/,
  'must be up to 28 lowercase letters, digits and hyphens, starting with a letter',
);
const hostName = form(/^([a-z0-9-]+\.)+[a-z]{2,}$/, 'must be a host name, such as api.example.com');

export const settings = [
  setting('--name <name>', 'name of the Worker, and prefix of everything it uses', '', workerName),
  setting('--cell <name>', 'name of the cell; --domain is then that of its router', 'CELL'),
  setting('--domain <host>', 'host name to serve it at, in your account', 'ORIGIN', hostName),
  setting('--email-from <address>', 'sender of sign-in links; none: no mail', 'EMAIL_FROM'),
  setting('--retention-days <n>', 'days to keep deliveries', 'DELIVERY_RETENTION_DAYS'),
  setting('--hot-days <n>', 'days until events and trips are archived; 0: never', 'HOT_DAYS'),
  setting('--map-style-url <url>', 'map style that browsers load; none: outlines', 'MAP_STYLE_URL'),
  setting(
    '--replicas [choice]',
    'read lists from replicas of D1 in each region',
    'READ_REPLICAS',
  ).preset('true'),
  setting('--location <place>', 'where to create the database, for good').choices(locations),
  setting('--jurisdiction <name>', 'where data is stored, for good').choices(jurisdictions),
];

type Stored =
  | 'cell'
  | 'domain'
  | 'emailFrom'
  | 'retentionDays'
  | 'hotDays'
  | 'mapStyleUrl'
  | 'replicas';

export type Settings = {
  [name in Stored | 'name' | 'location' | 'jurisdiction']?: string | undefined;
};

const nameOf = (one: (typeof settings)[number]) => one.attributeName() as keyof Settings; // each is one

/** Reads the settings. An empty one counts as absent: GitHub passes those that are not set. */
export function settingsIn(program: Command, args: string[]): Settings {
  for (const one of settings) {
    if (one.envVar && process.env[one.envVar] === '') delete process.env[one.envVar];
    program.addOption(one);
  }
  refuseMisspelt(program);
  const chosen = args.filter(
    (arg, at) => arg !== '' && args[at + 1] !== '' && !/^--[\w-]+=$/.test(arg),
  );
  return program.parse(chosen, { from: 'user' }).opts<Settings>();
}

/** A misspelt variable would leave a setting out, of which some cannot be changed later. */
function refuseMisspelt(program: Command): void {
  const known = settings.flatMap(({ envVar = '' }) => envVar.slice(prefix.length));
  for (const [name, value] of Object.entries(process.env)) {
    const chosen = name.slice(prefix.length);
    const meant = nearest(chosen, known);
    if (name.startsWith(prefix) && value && meant && !known.includes(chosen))
      program.error(`error: ${name} is not a setting, did you mean ${prefix}${meant}?`);
  }
}

/** The vars of a deployed Worker. */
export type DeployedVars = { [name: string]: string | undefined };

/** The vars that store these settings. ORIGIN is the host alone, for the address is known later. */
export function varsFor(chosen: Settings): DeployedVars {
  const values = settings.map((one) => [one.variable, chosen[nameOf(one)]]);
  return Object.fromEntries(values.filter(([variable, value]) => variable && value));
}

/** These settings, completed with those of the deployed Worker. */
export function withKept(chosen: Settings, vars: DeployedVars): Settings {
  const host = URL.parse(vars.ORIGIN ?? '')?.host;
  const kept = {
    ...Object.fromEntries(settings.map((one) => [nameOf(one), vars[one.variable]])),
    domain: host?.endsWith('.workers.dev') && !vars.CELL ? undefined : host,
  };
  const all = Object.entries({ ...kept, ...chosen });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined && value !== none));
}

/** Each setting with its value, as lines; `initial` are the vars of a Worker without them. */
export const inLines = (chosen: Settings, initial: DeployedVars): string =>
  settings
    .map((one) => `\n    ${one.long}: ${chosen[nameOf(one)] ?? initial[one.variable] ?? 'not set'}`)
    .join('');
