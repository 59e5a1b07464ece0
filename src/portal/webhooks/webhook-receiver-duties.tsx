import { retries } from '../../webhooks/deliveries/policy.ts';
import { Icon, type IconName } from '../ui/icons.tsx';

/** What a receiver has to do, beside the form. */
export const Duties = () => (
  <aside class="panel" aria-labelledby="duties">
    <header class="panel-head">
      <h2 id="duties">What your receiver should do</h2>
    </header>
    <ol class="checks panel-body pt-1">
      <Duty icon="timer">
        Return any 2xx status within {retries.timeoutSeconds} seconds. Do slow work afterwards.
      </Duty>
      <Duty icon="shield-check">Check the secret header and refuse requests without it.</Duty>
      <Duty icon="copy">
        Drop repeats by <code>Delivery-Id</code>.
      </Duty>
      <Duty icon="rotate-ccw">
        Expect retries: up to {retries.maxAttempts} attempts over {retries.hours} hours.
      </Duty>
    </ol>
    <p class="panel-foot">
      <a class="underline" href="/docs/quick-start">
        Receiver examples
      </a>
    </p>
  </aside>
);

const Duty = ({ icon, children }: { icon: IconName; children: unknown }) => (
  <li>
    <Icon name={icon} small />
    <span>{children}</span>
  </li>
);
