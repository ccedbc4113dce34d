// A receiver of webhooks as its users write them, with the published package of Standard Webhooks. Prints its port, then
// a line of JSON for each request. Each line on standard input is the secret to verify with from then on.
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { Webhook } from "standardwebhooks";

let secret = "";

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString("utf8");
    const told = { id: request.headers["webhook-id"], verified: true };
    try {
      const event = new Webhook(secret).verify(body, request.headers);
      told.type = event.type;
    } catch (error) {
      told.verified = false;
      told.error = String(error);
    }
    console.log(JSON.stringify(told));
    response.writeHead(told.verified ? 204 : 401).end();
  });
});

server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: server.address().port })));
createInterface({ input: process.stdin })
  .on("line", (line) => {
    secret = line;
    console.log(JSON.stringify({ ready: true }));
  })
  .on("close", () => process.exit(0));
