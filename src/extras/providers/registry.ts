import type { Connector } from './connector/connector.ts';
import { geotab } from './geotab/connector.ts';
import { motive } from './motive/connector.ts';
import { samsara } from './samsara/connector.ts';
import { terminal } from './terminal/connector.ts';

/** The providers that connections can pull from, in the order people see them. */
export const connectors = [samsara, geotab, motive, terminal] as Connector[]; // each made for its own API

export const connectorOf = (provider: string): Connector | undefined =>
  connectors.find((one) => one.provider === provider);
