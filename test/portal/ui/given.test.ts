import { type Child, jsx } from 'hono/jsx';
import { context } from '../../../src/portal/ui/given.ts';

const { Given, given } = context('nobody');
const name = () => jsx(() => given() as never, {});
const within = (value: string, ...children: Child[]) => jsx(Given, { value, children: '' }, ...children);

it('a value is that of the nearest one around a component, and of none outside', () => {
  const inner = within('Ann', name(), within('Ben', name()), [name()]);
  expect(`${jsx('p', {}, name(), inner, name())}`).toBe('<p>nobodyAnnBenAnnnobody</p>');
});

it('a component that waits is refused, and leaves nothing behind', () => {
  const late = jsx(async () => given() as never, {});
  expect(() => `${within('Ann', late)}`).toThrow('waits');
  expect(given()).toBe('nobody');
});
