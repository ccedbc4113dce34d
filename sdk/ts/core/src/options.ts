/** How an app wants to be updated, and the check of what an app without types passes. */
import { LaunchwayError } from './errors.js';

export interface Options {
  /** The address of the service's API, such as `https://updates.example.com/api`. */
  serverUrl?: string;
  /** The app as the service knows it. The app's own id unless set. */
  bundleId?: string;
  /** The configuration whose updates the app takes, such as `production`. */
  configuration?: string;
  /** When a round with the server begins by itself. `launch` unless set. */
  checkOn?: 'launch' | 'resume' | 'manual';
  /** When an update that was downloaded starts to run. `nextLaunch` unless set. */
  apply?: 'nextLaunch' | 'onBackground' | 'immediate';
  /** `auto`: an update is good once `sync()` was called and the first frame is visible. `manual`: it waits for `notifyAppReady()`. */
  readyMode?: 'auto' | 'manual';
  /** Milliseconds in the foreground after which an update that was not confirmed counts as hung: 1000 to 600000; 20000 unless set. */
  readyTimeoutMs?: number;
  /** Whether downloads wait for a connection that is not metered. */
  wifiOnly?: boolean;
  /** How many updates stay installed: 1 to 10; 2 unless set. */
  keepSlots?: number;
}

type Rule = { accepts: (value: unknown) => boolean; form: string };

const TEXT: Rule = { accepts: (value) => typeof value === 'string' && value !== '', form: 'a text that is not empty' };
const FLAG: Rule = { accepts: (value) => typeof value === 'boolean', form: '`true` or `false`' };
const ADDRESS: Rule = {
  accepts: (value) => typeof value === 'string' && /^https?:\/\/[^/]/.test(value),
  form: 'an address that starts with `https://` or `http://`',
};

const RULES: { readonly [name in keyof Required<Options>]: Rule } = {
  serverUrl: ADDRESS,
  bundleId: TEXT,
  configuration: TEXT,
  checkOn: oneOf('launch', 'resume', 'manual'),
  apply: oneOf('nextLaunch', 'onBackground', 'immediate'),
  readyMode: oneOf('auto', 'manual'),
  readyTimeoutMs: wholeNumber(1_000, 600_000),
  wifiOnly: FLAG,
  keepSlots: wholeNumber(1, 10),
};

/** A copy with the options that are set. Throws `invalidArgument` for a name or value that is none. */
export function checkedOptions(options: unknown): Options {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new LaunchwayError('invalidArgument', 'options must be an object');
  }
  const set: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) {
      continue;
    }
    if (!Object.prototype.hasOwnProperty.call(RULES, name)) {
      throw new LaunchwayError('invalidArgument', `${name} is not an option; the options are ${Object.keys(RULES).join(', ')}`);
    }
    const rule = RULES[name as keyof Options];
    if (!rule.accepts(value)) {
      throw new LaunchwayError('invalidArgument', `${name} must be ${rule.form}`);
    }
    set[name] = value;
  }
  return set;
}

function oneOf(...words: string[]): Rule {
  return {
    accepts: (value) => typeof value === 'string' && words.includes(value),
    form: words.map((word) => `\`${word}\``).join(' or '),
  };
}

function wholeNumber(from: number, to: number): Rule {
  return {
    accepts: (value) => Number.isInteger(value) && (value as number) >= from && (value as number) <= to,
    form: `a whole number from ${from} to ${to}`,
  };
}
