/** The way to the native part; each framework's package has its own. */

export interface Transport {
  /**
   * Calls a method of the native bridge with its arguments as a JSON object, and resolves with the result as JSON.
   * Rejects with an error that has a `code` of the API and a `message`.
   */
  call(method: string, argumentsJson: string): Promise<string>;

  /** Passes every event to the callback until the function that it returns is called. */
  listen(receive: (event: string, payloadJson: string) => void): () => void;
}
