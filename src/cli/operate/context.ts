import { type Command, InvalidArgumentError } from 'commander';
import { readDemo } from '../local/directory.ts';
import { ApiError, type Operator, operatorOf, type Service } from './client.ts';

/** A client of the operators' API for the command's service. @throws ApiError */
export const operatorFor = (command: Command): Operator => operatorOf(serviceOf(command));

/** The command's service: by --url or FLEET_URL, otherwise the local one. @throws ApiError */
export const serviceOf = (command: Command): Service =>
  serviceAt(command.optsWithGlobals<{ url?: string }>().url);

/** The service at `url`, by default at FLEET_URL, otherwise the local one. @throws ApiError */
export function serviceAt(url = process.env.FLEET_URL || undefined): Service {
  const local = readDemo();
  if (url && !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new ApiError(`--url (or FLEET_URL) must begin with https:// or http://, unlike ${url}`);
  const baseUrl = url?.replace(/\/$/, '') ?? local?.baseUrl;
  if (!baseUrl)
    throw new ApiError('There is no local service yet. Run npm start, or name another service with --url');
  const operatorKey =
    process.env.FLEET_OPERATOR_KEY ?? (baseUrl === local?.baseUrl ? local.operatorKey : undefined);
  if (!operatorKey) throw new ApiError('Set FLEET_OPERATOR_KEY to the OPERATOR_KEY of the service');
  return { baseUrl, operatorKey };
}

export const wholeNumber = (min: number, max: number) => (text: string) => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < min || value > max)
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  return value;
};
