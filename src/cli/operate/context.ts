import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { mainCell } from '../../core/platform/cells.ts';
import { readDemo } from '../local/directory.ts';
import { localDirectory } from '../project/paths.ts';
import { ApiError, keyVariable, type Service } from './client.ts';

/** The command's service, and its cell, as its options say. @throws ApiError */
export function serviceOf(command: Command): Service {
  const { url, cell } = command.optsWithGlobals<{ url?: string; cell?: string }>();
  return serviceAt(url, cell);
}

/** The service at a URL, FLEET_URL, or the local one; in a cell or FLEET_CELL. @throws ApiError */
export function serviceAt(givenUrl?: string, givenCell?: string): Service {
  readKeysFile();
  const url = givenUrl ?? (process.env.FLEET_URL || undefined);
  const cell = givenCell ?? (process.env.FLEET_CELL || undefined);
  const local = readDemo();
  if (url && !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new ApiError(`--url (or FLEET_URL) must begin with https:// or http://, unlike ${url}`);
  const baseUrl = url?.replace(/\/$/, '') ?? local?.baseUrl;
  if (!baseUrl)
    throw new ApiError(
      'There is no local service yet. Run npm start, or name another service with --url',
    );
  const { FLEET_OPERATOR_KEY: plain, [keyVariable(cell ?? mainCell)]: ofCell } = process.env;
  const ofMain = cell ? (ofCell ?? plain) : (plain ?? ofCell);
  const key = cell && cell !== mainCell ? ofCell : ofMain;
  if (cell && local && !local.cells && baseUrl === local.baseUrl)
    throw new ApiError('.local is of an earlier version. Run npm start -- --fresh --cells main,eu');
  const ofLocal = cell ? local?.cells?.[cell] : local?.operatorKey;
  const operatorKey = key ?? (baseUrl === local?.baseUrl ? ofLocal : undefined);
  if (!operatorKey)
    throw new ApiError(
      `Set ${keyVariable(cell)} to the OPERATOR_KEY of the ${cell ? 'cell' : 'service'}`,
    );
  return { baseUrl, operatorKey, cell };
}

export const wholeNumber = (min: number, max: number) => (text: string) => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < min || value > max)
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  return value;
};

const keysFile = join(localDirectory, 'deploy/fleet.env');

/** Adds what `.local/deploy/fleet.env` has to the environment, which wins. @throws ApiError */
function readKeysFile(): void {
  if (!existsSync(keysFile)) return;
  if (statSync(keysFile).mode & 0o077)
    throw new ApiError(
      `Others can read ${keysFile}, which has operator keys: chmod 600 it, and run it again`,
    );
  process.loadEnvFile(keysFile);
}
