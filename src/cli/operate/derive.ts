import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Command, Option } from 'commander';
import { root } from '../project/paths.ts';
import { askAll, inOneList, type OfCell, operatorFor } from './cells.ts';
import { ApiError, type Call, type Data } from './client.ts';
import { eachAs, show } from './print.ts';

/** Makes a command for the group in which it is declared. */
type MakeCommand = (group: string) => Command;

/** Commands by what they are about, which is '' for those of the tool itself. Extras add to them. */
export type Groups = { [name: string]: { about?: string; commands: MakeCommand[] } };

type Particulars<C extends Call> = {
  /** The body, if nobody chooses it. */
  fixed?: object;
  /** What it does, if not what the API says of the call. */
  description?: string;
  /** What people see of the reply, or of each item of a list; `--json` has everything. */
  shown?: Data<C> extends (infer Item)[] ? (item: Item) => object : (thing: Data<C>) => object;
};

type Schema = {
  $ref?: string;
  type?: string;
  description?: string;
  enum?: unknown[];
  default?: unknown;
  anyOf?: Schema[];
  items?: Schema;
  properties?: { [name: string]: Schema };
  required?: string[];
};
type Field = { name: string; schema: Schema; required: boolean };
type Operation = {
  summary: string;
  parameters?: {
    name: string;
    in: string;
    description: string;
    schema: Schema;
    required?: boolean;
  }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
};

/** The API's document. The declarations that it is built from would slow down every command. */
const document: {
  paths: { [path: string]: { [method: string]: Operation } };
  components: { schemas: { [name: string]: Schema } };
} = JSON.parse(
  readFileSync(join(root, 'src/docs/openapi/published/openapi.operator.json'), 'utf8'),
);

/** Options that are shorter than the names of their fields, or not called as an option of all commands. */
const shorter: { [field: string]: string } = {
  accidentLevels: 'levels',
  accountId: 'account',
  connectionIds: 'connections',
  eventId: 'event',
  expiresAt: 'expires',
  getsAlerts: 'alerts',
  healthStatus: 'health',
  incidentTypeMap: 'incident-types',
  maxInFlight: 'in-flight',
  maxPerSecond: 'per-second',
  minEventRisk: 'risk',
  tSP: 'tsp',
  url: 'address',
};

/** Nobody else should see these: stdin has them where they are `-`, as they are if they are required. */
const secrets = ['credential', 'secret', 'url'];

/** Lists of all accounts: all cells are asked. */
const ofEverybody: Call[] = ['GET /accounts', 'GET /deletions'];

/** A command that makes one call, from the API's document. Fields that are not in its usage or `fixed` are options. */
export const derived =
  <C extends Call>(
    usage: string,
    call: C,
    { fixed, description, shown }: Particulars<C> = {},
  ): MakeCommand =>
  (group) => {
    const [name = '', ...named] = usage.replace(/[<>]/g, '').split(' ');
    const [method = '', path = ''] = call.split(' ');
    const operation =
      document.paths[`/operator${path.replace(/:(\w+)/g, '{$1}')}`]?.[method.toLowerCase()];
    if (!operation) throw new Error(`${call} is not documented`);
    const command = new Command(name).description(description ?? operation.summary);
    const owner = /^\/([\w-]+)s\/:id/.exec(path)?.[1];
    const isWithin = path.endsWith(`/${group}s`);
    if (owner && isWithin) command.requiredOption(`--${owner} <id>`, `id of the ${owner}`);
    else if (owner) command.argument('<id>', `id of the ${owner}`);
    const fields = fieldsOf(operation);
    for (const field of named) {
      const declared = fields.find(({ name }) => name === field);
      command.argument(`<${field}>`, declared?.schema.description ?? '');
    }
    const others = fields.filter((field) => !fixed && !named.includes(field.name));
    const options = new Map(others.map((field) => [field.name, optionOf(field)]));
    for (const option of options.values()) command.addOption(option);
    return command.action(async () => {
      const { registeredArguments, processedArgs } = command;
      const args = new Map(registeredArguments.map((one, at) => [one.name(), processedArgs[at]]));
      const chosen = command.opts();
      const body: { [name: string]: unknown } = { ...fixed };
      for (const { name, schema } of fields) {
        const option = options.get(name)?.attributeName();
        const value = option ? chosen[option] : args.get(name);
        if (value !== undefined) body[name] = await typedValue(name, schema, value);
      }
      const id = args.get('id') ?? (owner && chosen[new Option(`--${owner}`).attributeName()]);
      const asked = {
        ...(id !== undefined && { id }),
        [operation.requestBody ? 'body' : 'query']: body,
      };
      const request = [asked] as never[] as [never]; // as the document says
      const shape = (shown ?? ((thing) => thing)) as (thing: object) => object; // of this call
      if (ofEverybody.includes(call)) {
        const lists = (await askAll(command, call, ...request)) as OfCell<object[]>[];
        return show(command, inOneList(lists), eachAs(shape));
      }
      const found: object = await operatorFor(command).call(call, ...request);
      show(command, found, () => (Array.isArray(found) ? eachAs(shape)(found) : shape(found)));
    });
  };

/** The fields of a request's body or query. */
function fieldsOf({ parameters = [], requestBody }: Operation): Field[] {
  if (!requestBody)
    return parameters
      .filter((parameter) => parameter.in === 'query' && parameter.name !== 'cursor')
      .map(({ name, description, schema, required = false }) => ({
        name,
        schema: { description, ...schema },
        required,
      }));
  const { $ref = '' } = requestBody.content['application/json'].schema;
  const { properties = {}, required = [] } =
    document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {};
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    required: required.includes(name),
  }));
}

function optionOf({ name, schema, required }: Field): Option {
  const { type, description = '', enum: choices, default: usual, items } = schema;
  const about = description
    .replace('null or missing', 'leave it out')
    .replaceAll(/\bnull\b/g, '""');
  const long = shorter[name] ?? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const isSecret = secrets.includes(name);
  const hints = [
    usual === true && 'This turns it off.',
    type === 'string' && choices && `One of ${choices.join(', ')}.`,
    items && 'Separate values with commas.',
    type === 'object' && 'A JSON file.',
    isNullable(schema) && !description.includes('null') && '"" for none.',
    isSecret && '- reads it from stdin.',
  ];
  const flags =
    type === 'boolean' ? `--${usual === true ? 'no-' : ''}${long}` : `--${long} <value>`;
  const option = new Option(flags, [about, ...hints.filter(Boolean)].join(' '));
  return isSecret && required ? option.default('-', 'stdin') : option.makeOptionMandatory(required);
}

/** Whether null is a value; with a type, `anyOf` has its formats. */
const isNullable = ({ anyOf, type }: Schema): boolean => anyOf !== undefined && type === undefined;

/** What was typed as a field's value. What is invalid stays text, for the service to explain. */
async function typedValue(name: string, schema: Schema, typed: string | boolean): Promise<unknown> {
  if (typeof typed === 'boolean') return typed;
  if (typed === '-' && secrets.includes(name)) {
    if (process.stdin.isTTY) console.error(`Enter the ${name}, then press Ctrl-D:`);
    const secret = (await text(process.stdin)).trim();
    if (secret === '') throw new ApiError(`stdin has no ${name}. Nothing has changed`);
    return secret;
  }
  if (typed === '' && isNullable(schema)) return null;
  const { type, items } = isNullable(schema) ? (schema.anyOf?.[0] ?? schema) : schema;
  if (type === 'object') return readJson(typed);
  if (items)
    return Promise.all(typed.split(',').map((part) => typedValue(name, items, part.trim())));
  return (type === 'integer' || type === 'number') && /^\d+$/.test(typed) ? Number(typed) : typed;
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ApiError(
      `Cannot read ${file} as JSON: ${error instanceof Error ? error.message : error}`,
    );
  }
}
