// The types of @mujoco/mujoco 3.14.0 name a type that nothing declares.
type Arguments = IArguments;
