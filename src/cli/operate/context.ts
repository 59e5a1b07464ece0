import { type Command, InvalidArgumentError } from 'commander';
import { readDemo } from '../local/directory.ts';
import { ApiError, type Operator, operatorOf } from './client.ts';

/** A client of the operators' API for the command's service. @throws ApiError */
export function operatorFor(command: Command): Operator {
  const { baseUrl, operatorKey } = serviceOf(command);
  return operatorOf(baseUrl, operatorKey);
}

/** The command's service: by --url or FLEET_URL, otherwise the local one. @throws ApiError */
export function serviceOf(command: Command): { baseUrl: string; operatorKey: string } {
  return serviceAt(command.optsWithGlobals<{ url?: string }>().url);
}

/** The service at `url`, by default at FLEET_URL, otherwise the local one. @throws ApiError */
export function serviceAt(url = process.env.FLEET_URL || undefined): {
  baseUrl: string;
  operatorKey: string;
} {
  const local = readDemo();
  if (url && !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new ApiError(`--url (or FLEET_URL) must begin with https:// or http://, unlike ${url}`);
  if (!url && !local)
    throw new ApiError('There is no local service yet. Run npm start, or name another service with --url');
  const key =
    process.env.FLEET_OPERATOR_KEY ?? (url && url !== local?.baseUrl ? undefined : local?.operatorKey);
  if (!key) throw new ApiError('Set FLEET_OPERATOR_KEY to the OPERATOR_KEY of the service');
  return { baseUrl: (url ?? local?.baseUrl ?? '').replace(/\/$/, ''), operatorKey: key };
}

export const wholeNumber = (min: number, max: number) => (text: string) => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < min || value > max)
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  return value;
};
