/** A native part that answers what a test says, and remembers what it was asked. */
export function nativePart(answers = {}) {
  const calls = [];
  const receivers = new Set();
  return {
    calls,
    receivers,
    emit: (event, payload) => receivers.forEach((receive) => receive(event, typeof payload === 'string' ? payload : JSON.stringify(payload))),
    transport: {
      call: async (method, argumentsJson) => {
        calls.push([method, JSON.parse(argumentsJson)]);
        const answer = answers[method];
        if (answer instanceof Error) {
          throw answer;
        }
        return typeof answer === 'string' ? answer : JSON.stringify(answer);
      },
      listen: (receive) => {
        receivers.add(receive);
        return () => receivers.delete(receive);
      },
    },
  };
}

export const UPDATE = { id: 'u1', version: '1.2.0', buildNumber: '7', sha256: 'ab'.repeat(32), size: 4096 };
