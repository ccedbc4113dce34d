/** What the package uses of React Native, so that it compiles without it. The long tests compile it with the real types. */

export const NativeModules: { [name: string]: any };

interface NativeModule {
  addListener(event: string): void;
  removeListeners(count: number): void;
}

export class NativeEventEmitter {
  constructor(module?: NativeModule | null);
  addListener(event: string, receive: (event: any) => void): { remove(): void };
}
