import * as v from 'valibot';
import { ExternalIdInput } from '../../core/fleet/lists/resource.ts';
import type { Operation } from '../operation.ts';
import { id } from '../replies.ts';

export const VehicleChange = v.object(ExternalIdInput.entries);

export const OperatorVehicle = v.object({
  id,
  connectionId: id,
  name: v.string(),
  vin: v.nullable(v.string()),
  externalId: v.nullable(v.string()),
});

export const tag = ['Connections'] as const;

export const operations = {
  changeVehicle: {
    call: 'PATCH /vehicles/:id',
    summary: "Set an account's own identifier of a vehicle",
    body: VehicleChange,
    reply: OperatorVehicle,
  },
} satisfies Record<string, Operation>;
