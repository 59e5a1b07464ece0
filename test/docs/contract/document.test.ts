import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { root, siteDirectory } from '../../../src/cli/project/paths.ts';
import { type Json, readDocument } from '../../support/node/contract.ts';

const directory = mkdtempSync(join(tmpdir(), 'fleet-contract-'));
afterAll(() => rmSync(directory, { recursive: true }));

const published = (name: string) => join(root, 'src/docs/openapi/published', name);

function redocly(...args: string[]) {
  const program = join(root, 'node_modules/@redocly/cli/bin/cli.js');
  const env = {
    ...process.env,
    NO_COLOR: '1',
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    env,
    encoding: 'utf8',
  });
  return { status, out: stdout + stderr };
}

describe.each(['openapi.json', 'openapi.operator.json'] as const)('%s', (name) => {
  it("passes Redocly's recommended rules without a warning", () => {
    const { status, out } = redocly('lint', join(siteDirectory, name));
    expect(out).toContain('Your API description is valid');
    expect(out).not.toMatch(/warning/i);
    expect(status).toBe(0);
  });

  it('breaks nothing that was published', () => {
    const { status, out } = redocly('diff', published(name), join(siteDirectory, name));
    expect(out).toContain('0 major');
    expect(status).toBe(0);
  });

  it('is the published one; after an addition, `npm run contract` publishes it', () => {
    expect(readDocument(name)).toEqual(JSON.parse(readFileSync(published(name), 'utf8')));
  });
});

describe('a change that breaks clients is noticed:', () => {
  type Schema = { properties: Json; required: string[] };
  const schema = (document: Json, name: string) =>
    (document as { components: { schemas: Record<string, Schema> } }).components.schemas[name] as Schema;
  const without = (document: Json, name: string, property: string) => {
    const { properties, required } = schema(document, name);
    delete properties[property];
    required.splice(required.indexOf(property), 1);
  };

  it.each<[string, (document: Json) => unknown]>([
    ['an operation that is gone', (document) => delete (document.paths as Json)['/trips']],
    ['a property of an item that is gone', (document) => without(document, 'Vehicle', 'vin')],
    [
      'a property of a delivery that is gone',
      (document) => without(document, 'EventNotification', 'vehicleVin'),
    ],
    [
      'a property that webhooks must now have',
      (document) => schema(document, 'WebhookInput').required.push('headers'),
    ],
  ])('%s', (_, change) => {
    const document = readDocument('openapi.json');
    change(document);
    const file = join(directory, 'changed.json');
    writeFileSync(file, JSON.stringify(document));
    expect(redocly('diff', published('openapi.json'), file).status).toBe(1);
  });
});
