/** The native client as each runtime shows it to scripts. */

export interface Reply {
  resolve(json: string): void;
  reject(code: string, message: string): void;
}

export interface JavaBridge {
  call(method: string, argumentsJson: string, reply: Reply): void;
  listen(listener: { onEvent(name: string, payload: string): void } | null): void;
}

/** The Java package `dev.launchway`. An object becomes a Java one by the constructor of its interface. */
export interface JavaClient {
  readonly Launchway: { get(): { bridge(): JavaBridge } | null };
  readonly core: {
    readonly session: {
      readonly Bridge: {
        readonly Reply: new (reply: Reply) => Reply;
        readonly Listener: new (listener: { onEvent(name: string, payload: string): void }) => { onEvent(name: string, payload: string): void };
      };
    };
  };
}

/** The Swift class `LaunchwayNativeScript`. */
export interface AppleClient {
  callArgumentsResolveReject(
    method: string,
    argumentsJson: string,
    resolve: (json: string) => void,
    reject: (code: string, message: string) => void,
  ): void;
  listen(receive: ((name: string, payload: string) => void) | null): void;
}
