import { type EventData, Observable, type Page } from '@nativescript/core';

class Counter extends Observable {
  message = 'Not tapped yet';
  private taps = 0;

  onTap(): void {
    this.taps += 1;
    this.set('message', `Tapped ${this.taps} times`);
  }
}

export function onNavigatingTo(args: EventData): void {
  (args.object as Page).bindingContext = new Counter();
}
