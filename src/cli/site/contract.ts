import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, siteDirectory } from '../project/paths.ts';
import { runProgram } from '../project/programs.ts';
import { buildDocuments } from './build.ts';

type Change = {
  path: string;
  kind: 'added' | 'modified' | 'removed';
  impact: string;
  verdicts: { ruleId: string; impact: string; message: string }[];
  property?: string;
  base?: { value?: unknown };
  revision?: { pointer: string };
};

/** Changes that the guide Versioning allows and Redocly calls breaking: what they may be about, by kind and rule. */
const allowed: { [change: string]: RegExp[] } = {
  'added schema-combinator-changed': [
    // A new kind in /changes.
    /^#\/components\/schemas\/Change\/(?:properties\/data\/anyOf\/0\/anyOf|oneOf)\/\d+$/,
  ],
  'modified enum-values-added': [
    // A new notification type, kind of thing in the audit log, line of an operator's check, or kind of team channel.
    /^#\/components\/schemas\/(?:Webhook\/properties\/notificationTypes\/items|DeliverySummary\/properties\/type)\/enum$/,
    /^#\/components\/schemas\/AuditEntry\/properties\/(?:subject|action)\/enum$/,
    /^#\/components\/schemas\/Check\/properties\/name\/enum$/,
    /^#\/components\/schemas\/Channel\/properties\/kind\/enum$/,
  ],
};

/** The changes that would break clients of the published document, a line each. */
export function breaksBetween(published: string, revision: string): string[] {
  const args = ['diff', published, revision, '--format', 'json', '--fail-on', 'none'];
  const stdout = runProgram(
    'Comparing the API documents',
    'node_modules/@redocly/cli/bin/cli.js',
    ...args,
  );
  const { changes }: { changes: Change[] } = JSON.parse(stdout); // as Redocly 2 writes it
  const repaired = changes.filter(isRepair).map(({ path }) => path);
  return changes
    .filter(
      (change) => change.impact === 'major' && !repaired.includes(change.path) && !isOpened(change),
    )
    .flatMap((change) =>
      change.verdicts
        .filter(({ ruleId, impact }) => impact === 'major' && !isAllowed(change, ruleId))
        .map(({ message }) => `${message} ${change.path}`),
    );
}

/** Whether a parameter without a type was given one: values that worked still do. */
const isRepair = ({ path, verdicts }: Change): boolean =>
  /\/parameters\/\d+\/schema$/.test(path) &&
  verdicts.some(({ message }) => message.startsWith("Type narrowed from 'any'"));

/** Whether an object in a reply, which could have no further properties, now can: clients ignore them. */
const isOpened = ({ path, property, base }: Change): boolean =>
  /\/responses\//.test(path) && property === 'additionalProperties' && base?.value === false;

const isAllowed = ({ kind, revision }: Change, rule: string): boolean =>
  allowed[`${kind} ${rule}`]?.some((about) => about.test(revision?.pointer ?? '')) === true;

function publish(): void {
  buildDocuments(siteDirectory);
  for (const name of ['openapi.json', 'openapi.operator.json']) {
    const published = join(root, 'src/docs/openapi/published', name);
    const built = join(siteDirectory, name);
    const breaks = versionOf(published) === versionOf(built) ? breaksBetween(published, built) : [];
    if (breaks.length > 0) {
      console.error(
        `contract: ${name} breaks existing clients. Undo that change, or give the API a new version.`,
      );
      for (const line of breaks) console.error(`  ${line}`);
      process.exit(1);
    }
    copyFileSync(built, published);
  }
}

const versionOf = (file: string): string => JSON.parse(readFileSync(file, 'utf8')).info.version;

if (import.meta.main) publish(); // `npm run contract`
