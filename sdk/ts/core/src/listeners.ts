/** Passes the events of a transport to the listeners of an app. */
import { LaunchwayError } from './errors.js';
import type { EventName, Events, ListenerHandle } from './events.js';
import { isEventName, PAYLOADS } from './payloads.js';
import { parseObject } from './shape.js';
import type { Transport } from './transport.js';

type Callback = (payload: Events[EventName]) => void;
type Listener = { readonly event: EventName; readonly callback: Callback };

/** Events that may happen before an app listens: they wait for the first listener. */
const WAITING: readonly EventName[] = ['updateApplied', 'updateFailed', 'rolledBack'];
const MAX_WAITING = 16;

export class Listeners {
  private readonly listeners = new Set<Listener>();
  private waiting: { readonly event: EventName; readonly payload: Events[EventName] }[] = [];
  private stop: (() => void) | null = null;

  constructor(private readonly transport: Transport) {}

  add<Name extends EventName>(event: Name, callback: (payload: Events[Name]) => void): ListenerHandle {
    if (!isEventName(event)) {
      throw new LaunchwayError('invalidArgument', `\`${String(event)}\` is not an event; the events are ${Object.keys(PAYLOADS).join(', ')}`);
    }
    if (typeof callback !== 'function') {
      throw new LaunchwayError('invalidArgument', 'a listener must be a function');
    }
    const listener: Listener = { event, callback: callback as Callback };
    this.listeners.add(listener);
    this.deliverWaiting(event);
    // One subscription for all events: the native part delivers what waits there to the first.
    this.stop ??= this.transport.listen((name, payloadJson) => this.receive(name, payloadJson));
    return { remove: () => this.remove(listener) };
  }

  private remove(listener: Listener): void {
    this.listeners.delete(listener);
    if (this.listeners.size === 0 && this.stop) {
      const stop = this.stop;
      this.stop = null;
      stop();
    }
  }

  /** An event that this version does not know, or whose payload has another form, is skipped. */
  private receive(event: string, payloadJson: string): void {
    if (!isEventName(event)) {
      return;
    }
    let payload: Events[EventName];
    try {
      payload = PAYLOADS[event](parseObject(payloadJson));
    } catch {
      return;
    }
    if (!this.deliver(event, payload) && WAITING.includes(event)) {
      this.waiting = [...this.waiting, { event, payload }].slice(-MAX_WAITING);
    }
  }

  private deliver(event: EventName, payload: Events[EventName]): boolean {
    // A copy: a callback may add and remove listeners.
    const receivers = [...this.listeners].filter((listener) => listener.event === event);
    for (const { callback } of receivers) {
      try {
        callback(payload);
      } catch (error) {
        // The app's own mistake: reported as such, and kept from the other listeners.
        void Promise.reject(error);
      }
    }
    return receivers.length > 0;
  }

  private deliverWaiting(event: EventName): void {
    const due = this.waiting.filter((waiting) => waiting.event === event);
    if (due.length === 0) {
      return;
    }
    this.waiting = this.waiting.filter((waiting) => waiting.event !== event);
    // Later, so that the caller has its handle.
    void Promise.resolve().then(() => due.forEach(({ payload }) => this.deliver(event, payload)));
  }
}
