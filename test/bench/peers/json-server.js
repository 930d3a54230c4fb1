// json-server has no registration: the caller makes two changes. It is not a dependency, because it
// brings 122 packages. Run `npm install --no-save json-server@0.17.4` first.
const [file, module] = process.argv.slice(2);
const { default: jsonServer } = await import(module);
const app = jsonServer.create();
app.use(jsonServer.defaults({ logger: false }));
app.use(jsonServer.router(file));
const server = app.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${server.address().port}` }),
);
process.on('disconnect', () => {
  server.close();
  server.closeAllConnections();
});
